#include "simulate/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "simulate/injection.h"
#include "simulate/scenario.h"
#include "simulated.h"

namespace faultline::simulation {
namespace {

TEST(Schedule, BringsAHealthyJobToItsEnd) {
  for (const int stages : {1, 2, 4}) {
    SCOPED_TRACE(stages);
    for (const bool experts : {false, true}) {
      Options options = small_job();
      options.nodes = 8;
      options.pipeline_parallel = stages;
      options.communicators = 6;
      const Job job(checked(options).value());
      Plan plan;
      plan.all_to_all = experts;
      const Program program(job.cluster, job.communicators, job.version, plan);
      for (const Stand& stand : stands(job.cluster, job.communicators, program, 0))
        EXPECT_TRUE(stand.finished);
    }
  }
}

std::vector<Stand> stands_of(const std::string& scenario, Truth* truth = nullptr) {
  Options options = small_job(scenario);
  options.steps = 12;
  const Job job(checked(options).value());
  Injection injection(job, 1, false);
  scenario_named(scenario)->inject(injection);
  if (truth != nullptr) *truth = injection.truth;
  return Attempt(job, 1, std::move(injection.plan)).stands;
}

TEST(Schedule, HoldsEverybodyUpBehindARankThatStops) {
  Truth truth;
  const std::vector<Stand> all = stands_of("rank_behind", &truth);
  const Stand& stopped = all[static_cast<std::size_t>(truth.subject.ranks.front())];
  for (const Stand& stand : all) {
    EXPECT_FALSE(stand.finished);
    EXPECT_GE(stand.end, stopped.end);
    EXPECT_LE(stand.end.step, stopped.end.step + 1);
  }
}

TEST(Schedule, KnowsWhichFaultsHangAndWhichDoNot) {
  struct Row {
    const char* scenario;
    bool hangs;
  };
  const Row cases[] = {
      {"collective_skipped_odd", true},
      {"collective_skipped_same", true},
      {"collective_mismatch_function", true},
      {"collective_mismatch_count", true},
      {"collective_mismatch_op", false},
      {"mismatch_two_camps", true},
      {"p2p_mismatch_missing_recv", true},
      {"p2p_mismatch_size", true},
      {"p2p_deadlock", true},
      {"transport_error", true},
      {"gdr_disabled", false},
      {"healthy_harmless_warns", false},
  };
  for (const Row& c : cases) {
    SCOPED_TRACE(c.scenario);
    const std::vector<Stand> all = stands_of(c.scenario);
    const bool finished =
        std::all_of(all.begin(), all.end(), [](const Stand& stand) { return stand.finished; });
    EXPECT_EQ(!finished, c.hangs);
  }
}

}  // namespace
}  // namespace faultline::simulation
