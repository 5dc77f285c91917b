// Kept lines that are read again with signatures give the same events as reading them with
// signatures at once: for every scenario that `simulate` writes, cut anywhere.
#include "service/reanalysis.h"

#include <cstdlib>
#include <map>

#include "sent_scenario.h"

namespace faultline {
namespace {

class Reanalysis : public SentScenario {
 protected:
  static std::string answer_of_stored(Store& store) {
    JobState job("j");
    store.replay(
        "j", [&](std::string_view packed) { ASSERT_TRUE(job.take_packed_calls(packed)); },
        [&](const StoredBatch& each) {
          job.apply(each.source, each.batch, each.received,
                    each.calls_are_kept ? CallsAre::counted : CallsAre::new_ones);
        });
    return answer_of(job);
  }

  static std::string events_of_stored(Store& store) {
    std::map<std::string, std::string> events;  // source to its events
    store.replay(
        "j", [](std::string_view) {},
        [&](const StoredBatch& each) {
          for (const Event& event : each.batch.events)
            events[each.source.name] += fmt::format("{} {} {} {}\n", event.line, event.offset,
                                                    kind_of(event.fact), fact_to_json(event.fact));
        });
    std::string all;
    for (const auto& [source, text] : events) all += source + ":\n" + text;
    return all;
  }

  void store_all(Store& store, std::vector<Commit> commits) {
    for (Commit& commit : commits)
      store.submit(std::move(commit),
                   [](const auto&, const std::exception_ptr& failure) { ASSERT_FALSE(failure); });
    store.drain();
  }
};

// FAULTLINE_REANALYSES=20 tries more seeds.
TEST_P(Reanalysis, OfWhatWasReadWithoutSignaturesTellsWhatReadingWithThemDoes) {
  const char* more = std::getenv("FAULTLINE_REANALYSES");
  const int seeds = more != nullptr ? std::atoi(more) : 1;
  for (int seed = 1; seed <= seeds; ++seed) {
    random.seed(static_cast<std::uint32_t>(seed));
    simulate(static_cast<std::uint32_t>(seed));
    const auto asked = std::make_shared<AskedByCatalog>(catalog());
    const std::mt19937 same_cuts = random;
    Store at_once(workshop.folder() / fmt::format("at_once_{}.db", seed));
    store_all(at_once, commits(asked, true));
    random = same_cuts;
    Store later(workshop.folder() / fmt::format("later_{}.db", seed));
    store_all(later, commits(nullptr, true));

    const ReanalysisTold told = reanalyze(later, "j", asked);
    EXPECT_EQ(told.damaged, 0);
    EXPECT_GT(told.lines, 0);
    ASSERT_EQ(events_of_stored(later), events_of_stored(at_once)) << "seed " << seed;
    ASSERT_EQ(answer_of_stored(later), answer_of_stored(at_once)) << "seed " << seed;

    const ReanalysisTold again = reanalyze(later, "j", asked);
    EXPECT_EQ(again.events_new + again.events_gone, 0) << "seed " << seed;
    const ReanalysisTold same = reanalyze(at_once, "j", asked);
    EXPECT_EQ(same.events_new + same.events_gone, 0) << "seed " << seed;
    std::filesystem::remove_all(workshop.folder() / "logs");
  }
}

INSTANTIATE_TEST_SUITE_P(All, Reanalysis, testing::ValuesIn(scenario_names()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace faultline
