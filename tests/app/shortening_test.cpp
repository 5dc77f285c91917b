// What calls came to, in place of the calls, changes no answer: for every scenario that `simulate`
// writes, cut anywhere.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "app/asked_by_catalog.h"
#include "ingest/reader.h"
#include "model/json.h"
#include "rules/answer/diagnosis.h"
#include "simulate/scenario.h"
#include "simulate/simulate.h"
#include "store/store.h"
#include "workshop.h"

namespace faultline {
namespace {

constexpr Timestamp kNow = Timestamp(std::chrono::hours(24 * 21'000));

class Shortening : public testing::TestWithParam<std::string> {
 protected:
  struct Sender {
    Source source;
    std::string text;
    std::size_t sent = 0;
    std::unique_ptr<Reader> reader;
    std::uint64_t offset = 0;
  };

  static const Catalog& catalog() {
    static const Catalog loaded = load_catalog();
    return loaded;
  }

  std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  }

  void simulate(std::uint32_t seed) {
    constexpr std::array kForms = {
        std::pair{"none", simulation::Layout::per_rank},
        std::pair{"slurm", simulation::Layout::merged},
        std::pair{"cri", simulation::Layout::per_host},
    };
    const auto& [wrapper, layout] = kForms[(std::hash<std::string>{}(GetParam()) + seed) % 3];
    simulation::Options options;
    options.scenario = GetParam();
    options.nodes = 2;
    options.steps = 12;
    options.wrapper = wrapper;
    options.layout = layout;
    options.seed = seed;
    simulation::FolderOutput output(workshop.folder());
    simulation::simulate(simulation::checked(options).value(), output);
  }

  // The job's logs come in pieces, by turns.
  std::vector<Commit> commits() {
    const std::filesystem::path logs = workshop.folder() / "logs";
    const auto asked = std::make_shared<AskedByCatalog>(catalog());
    std::vector<Sender> senders;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(logs))
      if (entry.is_regular_file())
        senders.push_back(
            {.source = {.job = "j",
                        .name = std::filesystem::relative(entry.path(), logs).string(),
                        .host = ""},
             .text = read_file(entry.path()),
             .reader = std::make_unique<Reader>(Cursor{}, kNow, asked)});
    std::ranges::sort(senders, {}, [](const Sender& sender) { return sender.source.name; });
    std::vector<Commit> commits;
    while (!senders.empty()) {
      const std::size_t turn = below(senders.size());
      Sender& sender = senders[turn];
      const std::size_t piece =
          std::min(sender.text.size() - sender.sent, 1 + below(below(4) == 0 ? 50'000 : 4'000));
      sender.reader->feed(std::string_view(sender.text).substr(sender.sent, piece));
      sender.sent += piece;
      const bool ends = sender.sent == sender.text.size();
      if (ends) sender.reader->close();
      Commit commit{.source = sender.source,
                    .batch = sender.reader->take(),
                    .received = kNow + std::chrono::seconds(commits.size())};
      commit.batch.end = ends ? SourceEnd::whole : SourceEnd::open;
      commit.position = {.offset = commit.batch.to_offset};
      commit.fingerprint = {commit.batch.from_offset, commit.batch.to_offset, commits.size()};
      commits.push_back(std::move(commit));
      if (ends) senders.erase(senders.begin() + static_cast<std::ptrdiff_t>(turn));
    }
    return commits;
  }

  static std::string answer_of(const JobState& job) {
    const Moment moment{.now = kNow + std::chrono::hours(1)};
    const Diagnosis diagnosis = diagnose(job, catalog(), moment);
    std::string answer = boost::json::serialize(to_json(diagnosis)) +
                         boost::json::serialize(to_json(diagnosis.explanation));
    for (const RankView& rank : ranks_of(job, diagnosis))
      answer += boost::json::serialize(to_json(rank));
    return answer + boost::json::serialize(to_json(detail_of(job, diagnosis)));
  }

  Workshop workshop;
  std::mt19937 random;
};

// FAULTLINE_SHORTENINGS=20 tries more seeds.
TEST_P(Shortening, OfWhatIsStoredChangesNoByteOfTheAnswer) {
  const char* more = std::getenv("FAULTLINE_SHORTENINGS");
  const int seeds = more != nullptr ? std::atoi(more) : 1;
  for (int seed = 1; seed <= seeds; ++seed) {
    random.seed(static_cast<std::uint32_t>(seed));
    simulate(static_cast<std::uint32_t>(seed));
    Store store(workshop.folder() / fmt::format("{}.db", seed));
    JobState live("j");
    std::size_t batches = 0;
    for (Commit& commit : commits()) {
      store.submit(std::move(commit), [&](const std::shared_ptr<const Commit>& saved,
                                          const std::exception_ptr& failure) {
        ASSERT_FALSE(failure);
        live.apply(saved->source, saved->batch, saved->received);
        ++batches;
      });
      if (below(40) != 0) continue;
      store.drain();
      store.keep_calls("j", static_cast<std::int64_t>(batches), live.packed_calls());
      if (below(3) != 0) store.drop_kept_calls("j");
    }
    store.drain();
    JobState again("j");
    std::size_t stored = 0;
    const auto damaged = store.replay(
        "j", [&](std::string_view packed) { ASSERT_TRUE(again.take_packed_calls(packed)); },
        [&](const StoredBatch& each) {
          again.apply(each.source, each.batch, each.received,
                      each.calls_are_kept ? CallsAre::counted : CallsAre::new_ones);
          ++stored;
        });
    EXPECT_TRUE(damaged.empty());
    EXPECT_TRUE(again.has_sources_of_calls());
    EXPECT_LE(stored, batches);
    ASSERT_EQ(answer_of(again), answer_of(live)) << "seed " << seed;
    std::filesystem::remove_all(workshop.folder() / "logs");
  }
}

std::vector<std::string> scenario_names() {
  std::vector<std::string> names;
  for (const simulation::Scenario& scenario : simulation::scenarios())
    names.emplace_back(scenario.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, Shortening, testing::ValuesIn(scenario_names()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace faultline
