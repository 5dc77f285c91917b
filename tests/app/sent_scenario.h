// The jobs that `simulate` writes, sent in pieces that are cut anywhere; the sources take turns.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ingest/reader.h"
#include "model/json.h"
#include "rules/answer/diagnosis.h"
#include "rules/knowledge/asked_by_catalog.h"
#include "service/read_commit.h"
#include "simulate/scenario.h"
#include "simulate/simulate.h"
#include "store/store.h"
#include "workshop.h"

namespace faultline {

class SentScenario : public testing::TestWithParam<std::string> {
 protected:
  static constexpr Timestamp kNow = Timestamp(std::chrono::hours(24 * 21'000));

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

  // A body may end inside a line; the next body goes on there.
  std::vector<Commit> commits(const std::shared_ptr<const Noteworthy>& asked, bool keeps_lines) {
    const std::filesystem::path logs = workshop.folder() / "logs";
    std::vector<Sender> senders;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(logs))
      if (entry.is_regular_file())
        senders.push_back(
            {.source = {.job = "j",
                        .name = std::filesystem::relative(entry.path(), logs).string(),
                        .host = ""},
             .text = read_file(entry.path())});
    std::ranges::sort(senders, {}, [](const Sender& sender) { return sender.source.name; });
    std::vector<Commit> commits;
    while (!senders.empty()) {
      const std::size_t turn = below(senders.size());
      Sender& sender = senders[turn];
      if (!sender.reader) {
        sender.reader = std::make_unique<Reader>(sender.cursor, kNow, asked);
        if (keeps_lines) sender.reader->keep_lines();
      }
      const std::size_t piece =
          std::min(sender.text.size() - sender.sent, 1 + below(below(4) == 0 ? 50'000 : 4'000));
      sender.reader->feed(std::string_view(sender.text).substr(sender.sent, piece));
      sender.sent += piece;
      const bool ends = sender.sent == sender.text.size();
      const bool body_ends = !ends && below(3) == 0;
      if (ends) sender.reader->close();
      if (body_ends) sender.reader->finish();
      Commit commit = take_commit(*sender.reader, sender.source, sender.cursor.carry);
      sender.cursor = sender.reader->cursor();
      if (body_ends) sender.reader.reset();
      commit.received = kNow + std::chrono::seconds(commits.size());
      commit.batch.end = ends ? SourceEnd::whole : SourceEnd::open;
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

 private:
  struct Sender {
    Source source;
    std::string text;
    std::size_t sent = 0;
    Cursor cursor;
    std::unique_ptr<Reader> reader;  // of the body that is being sent
  };
};

inline std::vector<std::string> scenario_names() {
  std::vector<std::string> names;
  for (const simulation::Scenario& scenario : simulation::scenarios())
    names.emplace_back(scenario.name);
  return names;
}

}  // namespace faultline
