// Storing the sum of the calls in place of the calls does not change the answer: for every scenario
// that `simulate` writes, cut anywhere.
#include <cstdlib>

#include "sent_scenario.h"

namespace faultline {
namespace {

class Shortening : public SentScenario {};

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
    for (Commit& commit : commits(std::make_shared<AskedByCatalog>(catalog()), false)) {
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

INSTANTIATE_TEST_SUITE_P(All, Shortening, testing::ValuesIn(scenario_names()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace faultline
