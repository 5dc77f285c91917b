// NCCL prints no dates. PyTorch's time-outs have one, and say how long ago the call was made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "job.h"

namespace faultline {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

const Timestamp kCalled{std::chrono::sys_days{std::chrono::year{2026} / 3 / 5} + 2h};

EventTime after_call(std::chrono::seconds after) {
  return EventTime::at(kCalled + after, 1s, true);
}

// The rank's watchdog reports ten minutes after the call.
void time_out(Job& job, int rank, std::uint64_t sequence = 21) {
  const auto say = [&](Fact fact, const std::string& text) {
    job.say({"j", "torch.log", "", -1}, Speaker{.rank = rank}, std::move(fact), text,
            after_call(600s));
  };
  const TorchGroup group{.id = 0, .name = "0", .description = "default_pg", .rank = rank};
  say(WatchdogTimeout{.group = group,
                      .sequence = sequence,
                      .operation = "ALLREDUCE",
                      .numel_in = 1024,
                      .numel_out = 1024,
                      .timeout_ms = 600'000,
                      .ran_ms = 600'000},
      fmt::format("rank {} times out", rank));
  say(WatchdogStatus{.group = group,
                     .teller = "failure",
                     .failed = sequence,
                     .enqueued = static_cast<std::int64_t>(sequence),
                     .completed = static_cast<std::int64_t>(sequence) - 1},
      fmt::format("rank {} enqueued {}", rank, sequence));
}

Job sixteen_that_time_out(const std::vector<int>& who) {
  Job job;
  job.join_all(16);
  job.call(ranks(0, 16), all_reduce(), 21);
  for (const int rank : who) time_out(job, rank);
  return job;
}

TEST(UndatedCalls, AGpuThatWasLostDaysBeforeItsRankMadeACallIsNotBlamed) {
  for (const auto& [when, is_blamed] : {std::pair(-72h, false), {-1h, false}, {0h, true}}) {
    Job job = sixteen_that_time_out(ranks(0, 16));
    job.xid("node-0", Job::gpu_of(3), 79, after_call(when + 5s));
    const std::vector<std::string> blamed = causes(job.diagnosis().root_causes);
    EXPECT_EQ(std::ranges::find(blamed, "gpu.off_bus") != blamed.end(), is_blamed) << when.count();
  }
}

TEST(UndatedCalls, AHostThatStartedAnewWhileOthersWaitedForItWentDown) {
  Job job = sixteen_that_time_out(ranks(0, 8));
  job.boot("node-1", after_call(120s));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("host.down"));
  EXPECT_THAT(diagnosis.root_causes[0].subject.hosts, ElementsAre("node-1"));
}

TEST(UndatedCalls, ABootBeforeTheJobOrOfAHostWhoseRanksSpeakAfterItIsNone) {
  Job earlier = sixteen_that_time_out(ranks(0, 8));
  earlier.boot("node-1", after_call(-24h));
  EXPECT_THAT(causes(earlier.diagnosis().root_causes), Not(Contains("host.down")));
  Job speaking = sixteen_that_time_out(ranks(0, 16));
  speaking.boot("node-1", after_call(120s));
  EXPECT_THAT(causes(speaking.diagnosis().root_causes), Not(Contains("host.down")));
}

// The NCCL logs of node-1 end before those of node-0, as if a pipe was not flushed.
Job with_logs_cut_on_one_host() {
  Job job;
  job.join_all(16);
  job.call(ranks(0, 16), all_reduce(), 12);
  job.call(ranks(0, 8), all_reduce(), 9);
  return job;
}

TEST(UndatedCalls, WhoTimesOutInTheSameCallIsNotBehindWhateverItsCallsSay) {
  Job job = with_logs_cut_on_one_host();
  for (const int rank : ranks(0, 16)) time_out(job, rank, 21);
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.stalled"));
  EXPECT_TRUE(diagnosis.root_causes[0].subject.ranks.empty());
}

TEST(UndatedCalls, WhoEnqueuedLessByPyTorchsCountIsBehindAsItsCallsSay) {
  Job job = with_logs_cut_on_one_host();
  for (const int rank : ranks(0, 8)) time_out(job, rank, 21);
  for (const int rank : ranks(8, 16)) time_out(job, rank, 13);
  EXPECT_THAT(causes(job.diagnosis().root_causes), Contains("collective.rank_behind"));
}

}  // namespace
}  // namespace faultline
