// Storing the sum of the calls in place of the calls, and dropping the reports that are not needed,
// does not change the answer: for every scenario that `simulate` writes, cut anywhere.
#include <cstdlib>

#include "sent_scenario.h"

namespace faultline {
namespace {

class Shortening : public SentScenario {
 protected:
  // What a long job prints again and again beside the logs of the scenario: training steps, and the
  // counters of ports.
  void write_what_repeats() {
    constexpr int kSteps = 150;
    std::string steps;
    for (int rank = 0; rank < 2; ++rank) {
      steps.clear();
      for (int step = 1; step <= kSteps; ++step)
        steps += fmt::format(
            " [2026-03-05 {:02}:{:02}:00] iteration {:8}/     500 | consumed samples: {:10} | "
            "elapsed time per iteration (ms): {}.0 | learning rate: 1.0E-04 | lm loss: {} | grad "
            "norm: 0.31 | number of nan iterations:   0 |\n",
            step / 60, step % 60, step, 8 * step, 4200 + (step + rank) % 3 * 100,
            step % 7 < 4 ? "2.31E+00" : "2.29E+00");
      workshop.write(fmt::format("logs/train/rank{}.log", rank), steps);
    }
    std::string counters;
    for (int hour = 0; hour < 60; ++hour)
      for (int lid = 37; lid < 39; ++lid)
        counters += fmt::format(
            "2026-03-{:02}T{:02}:47:11+00:00\n"
            "# Port extended counters: Lid {} port 1 (CapMask: 0x5A00 CapMask2: 0x0000002)\n"
            "PortSelect:......................1\n"
            "CounterSelect:...................0x0000\n"
            "PortXmitData:....................{}\n"
            "SymbolErrorCounter:..............{}\n"
            "LinkDownedCounter:...............{}\n",
            5 + hour / 24, hour % 24, lid, 48201943312384 + 10 * hour, hour / 11 % 2, hour / 40);
    workshop.write("logs/gpu-7/counters.txt", counters);
  }

  // Any of the events that are not needed, as if the power failed in between.
  std::uint64_t drop_some_events(Store& store, const JobState& live) {
    const std::size_t one_in = 1 + below(3);
    std::vector<EventsOfBatch> dropped;
    std::uint64_t events = 0;
    store.replay(
        "j", [](std::string_view) {},
        [&](const StoredBatch& stored) {
          EventsOfBatch of_batch{.batch = stored.number, .places = {}};
          for (const Event& event : stored.batch.events)
            if (!live.needs(stored.source, stored.batch, event) && below(one_in) == 0)
              of_batch.places.push_back(event.order);
          events += of_batch.places.size();
          if (!of_batch.places.empty()) dropped.push_back(std::move(of_batch));
        });
    store.drop_events(dropped);
    return events;
  }
};

// FAULTLINE_SHORTENINGS=20 tries more seeds.
TEST_P(Shortening, OfWhatIsStoredChangesNoByteOfTheAnswer) {
  const char* more = std::getenv("FAULTLINE_SHORTENINGS");
  const int seeds = more != nullptr ? std::atoi(more) : 1;
  for (int seed = 1; seed <= seeds; ++seed) {
    random.seed(static_cast<std::uint32_t>(seed));
    simulate(static_cast<std::uint32_t>(seed));
    write_what_repeats();
    Store store(workshop.folder() / fmt::format("{}.db", seed));
    JobState live("j");
    std::size_t batches = 0;
    std::uint64_t dropped = 0;
    const auto shorten = [&] {
      store.drain();
      if (below(4) != 0) dropped += drop_some_events(store, live);
      store.keep_calls("j", static_cast<std::int64_t>(batches), live.packed_calls());
      if (below(3) != 0) store.drop_kept_calls("j");
    };
    for (Commit& commit : commits(std::make_shared<AskedByCatalog>(catalog()), false)) {
      store.submit(std::move(commit), [&](const std::shared_ptr<const Commit>& saved,
                                          const std::exception_ptr& failure) {
        ASSERT_FALSE(failure);
        live.apply(saved->source, saved->batch, saved->received);
        ++batches;
      });
      if (below(40) == 0) shorten();
    }
    shorten();
    dropped += drop_some_events(store, live);
    EXPECT_GT(dropped, 0u);
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
