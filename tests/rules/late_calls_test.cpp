// Dated calls: the rank that all others wait for in each step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "job.h"

namespace faultline {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const Timestamp kStart{std::chrono::sys_days{std::chrono::year{2026} / 6 / 3} + 5h};

// Steps of a second with three calls each. `late_by` is how late a rank makes the first call of a
// step; its other calls of the step follow at once.
struct Steps {
  int ranks = 4;
  int steps = 12;
  int per_host = 8;
  std::chrono::microseconds resolution{0};
  std::function<std::chrono::milliseconds(int rank, int step)> late_by;
  bool sends = false;
};

Job job_of(const Steps& it) {
  Job job;
  const auto at = [&](std::chrono::milliseconds passed) {
    job.clock = EventTime::at(kStart + passed, it.resolution);
  };
  at(0ms);
  job.join_all(it.ranks);
  struct Made {
    std::chrono::milliseconds at;
    int rank;
    std::uint64_t call;
  };
  std::vector<Made> calls;
  for (int step = 0; step < it.steps; ++step)
    for (int rank = 0; rank < it.ranks; ++rank)
      for (int call = 0; call < 3; ++call)
        calls.push_back({step * 1000ms + it.late_by(rank, step) + call * 10ms + rank * 1ms, rank,
                         static_cast<std::uint64_t>(3 * step + call)});
  std::ranges::stable_sort(calls, {}, &Made::at);
  for (const Made& made : calls) {
    at(10s + made.at);
    job.call_once(made.rank, made.call % 3 == 0 ? all_gather() : all_reduce(), "world", made.call);
  }
  if (it.sends) job.exchange(0, 1);
  return job;
}

TEST(LateCalls, ARankThatAllOthersWaitForInEachStepIsAStraggler) {
  for (const int ranks : {4, 16}) {
    const Diagnosis diagnosis =
        job_of({.ranks = ranks, .late_by = [](int rank, int) { return rank == 2 ? 600ms : 0ms; }})
            .diagnosis();
    EXPECT_EQ(diagnosis.verdict, Verdict::slow);
    ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.straggler"));
    EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(2));
    EXPECT_EQ(diagnosis.root_causes[0].evidence.size(), 2U);
  }
}

TEST(LateCalls, NobodyIsAStragglerWhere) {
  using namespace std::chrono;
  const std::vector<std::pair<std::string, Steps>> rows = {
      {"all come together", {.late_by = [](int, int) { return 0ms; }}},
      {"it is another rank in each step",
       {.late_by = [](int rank, int step) { return rank == step % 4 ? 600ms : 0ms; }}},
      {"it was late once",
       {.late_by =
            [](int rank, int step) {
              return rank == 2 && step >= 6 ? 0ms : rank == 2 && step == 5 ? 900ms : 0ms;
            }}},
      {"it is late by little", {.late_by = [](int rank, int) { return rank == 2 ? 60ms : 0ms; }}},
      {"two of four are late", {.late_by = [](int rank, int) { return rank >= 2 ? 600ms : 0ms; }}},
      {"stamps are whole seconds",
       {.resolution = 1s, .late_by = [](int rank, int) { return rank == 2 ? 600ms : 0ms; }}},
      {"ranks send to each other",
       {.late_by = [](int rank, int) { return rank == 2 ? 600ms : 0ms; }, .sends = true}},
  };
  for (const auto& [why, steps] : rows) {
    const Diagnosis diagnosis = job_of(steps).diagnosis();
    for (const Finding& finding : diagnosis.root_causes)
      EXPECT_NE(finding.cause, "software.straggler") << why << ": " << finding.title;
  }
}

// Rank 8 is the only rank of its host here, so its clock may be wrong.
TEST(LateCalls, ARankWithoutAPeerOnItsHostMayHaveAClockThatIsWrong) {
  const Diagnosis diagnosis =
      job_of({.ranks = 9, .late_by = [](int rank, int) { return rank == 8 ? 600ms : 0ms; }})
          .diagnosis();
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
}

// The CPU of rank 2 lags behind while those of the other ranks run ahead: nobody waits.
TEST(LateCalls, ARankThatLagsWhileTheOthersGoOnKeepsNobodyWaiting) {
  Job job;
  job.clock = EventTime::at(kStart);
  job.join_all(4);
  for (std::uint64_t tick = 0; tick < 60; ++tick)
    for (int rank = 0; rank < 4; ++rank) {
      if (rank == 2 && tick < 5) continue;
      job.clock = EventTime::at(kStart + 10s + static_cast<int>(tick) * 100ms + rank * 1ms);
      job.call_once(rank, all_reduce(), "world", rank == 2 ? tick - 5 : tick);
    }
  for (const Finding& finding : job.diagnosis().root_causes)
    EXPECT_NE(finding.cause, "software.straggler") << finding.title;
}

}  // namespace
}  // namespace faultline
