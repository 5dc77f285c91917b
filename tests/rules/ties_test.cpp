// What ties a fault without a time to the stop of an undated job, and what comes first where
// nothing ties them.
#include "rules/story/ties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job.h"

namespace faultline {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::Not;

constexpr Timestamp kThen{1'771'400'000s};

EventTime dated(std::chrono::seconds after) { return EventTime::at(kThen + after, 1s); }
EventTime up_for(std::int64_t seconds) { return EventTime::since_boot(seconds * 1'000'000); }

const std::string kNfs = "nfs: server filer-2 not responding, still trying";
const std::string kPanic = "Kernel panic - not syncing: Fatal exception";
const std::string kNicDown = "mlx5_core 0000:5c:00.0 ens3f0np0: Link down";
const std::string kOtherNicDown = "e1000e 0000:00:1f.6 eno1: NIC Link is Down";
const std::string kRetriesRanOut =
    "NET/IB: Got completion from peer 10.0.0.11<51544> with status=12 opcode=32698 len=32696 "
    "vendor err 129 (Send)";

std::string first_of(const Job& job) {
  const Diagnosis diagnosis = job.diagnosis();
  return diagnosis.root_causes.empty() ? ""
                                       : std::string(name_of(diagnosis.root_causes.front().cause));
}

// Sixteen ranks on two hosts; rank 3 never comes to the last call.
Job without_rank_3() {
  Job job = sixteen_ranks();
  job.call(all_but(3, 16), all_reduce());
  return job;
}

// Three hosts; no rank of node-0 comes to the last call.
Job without_node_0() {
  Job job;
  job.join_all(24);
  job.call(ranks(0, 24), all_reduce(), 10);
  job.call(ranks(8, 24), all_reduce());
  return job;
}

// All ranks wait in one call until their watchdogs say so.
Job all_wait() {
  Job job = sixteen_ranks();
  for (int rank = 0; rank < 16; ++rank) {
    Speaker speaker = Job::speaker_of(rank);
    speaker.rank = rank;
    job.say(Job::source_of(rank), speaker,
            WatchdogTimeout{.group = {.id = 0, .name = "0", .description = "default_pg"},
                            .sequence = 11,
                            .operation = "ALLREDUCE",
                            .numel_in = 1024,
                            .numel_out = 1024,
                            .timeout_ms = 600'000,
                            .ran_ms = 600'050},
            "Watchdog caught collective operation timeout");
  }
  return job;
}

TEST(Ties, AHostThatStoppedWholeIsTiedToItsFault) {
  Job job = without_node_0();
  job.kernel("node-0", kNfs, up_for(86'400));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(diagnosis.root_causes, Not(IsEmpty()));
  EXPECT_EQ(diagnosis.root_causes.front().cause, "host.storage_stall");
  EXPECT_LT(diagnosis.root_causes.front().confidence, 0.8);
}

TEST(Ties, WhatNobodySinglesOutComesAfterWhoeverStopped) {
  const std::pair<Job, std::string> cases[] = {
      {without_rank_3(), "node-0"}, {without_node_0(), "node-1"}, {all_wait(), "node-0"}};
  for (auto [job, host] : cases) {
    job.kernel(host, kNfs, up_for(86'400));
    const Diagnosis diagnosis = job.diagnosis();
    ASSERT_THAT(diagnosis.root_causes, Not(IsEmpty()));
    EXPECT_TRUE(is_of(diagnosis.root_causes.front().cause, Family::collective));
    for (const Finding& finding : diagnosis.root_causes)
      EXPECT_TRUE(finding.cause != "host.storage_stall" || finding.confidence < 0.5);
  }
}

TEST(Ties, WhatMightBeWhyIsToldAsACauseAfterTheStop) {
  Job job = without_rank_3();
  job.kernel("node-0", kNfs, up_for(86'400));
  EXPECT_THAT(causes(job.diagnosis().root_causes),
              testing::ElementsAre("collective.rank_behind", "host.storage_stall"));
}

TEST(Ties, AHostThatWentDownAndDidNotComeBackTookTheRankThatIsWaitedFor) {
  Job job = without_rank_3();
  job.boot("node-0", up_for(0));
  job.kernel("node-0", kPanic, up_for(86'400));
  EXPECT_EQ(first_of(job), "host.down");
  Job of_another = without_rank_3();
  of_another.boot("node-1", up_for(0));
  of_another.kernel("node-1", kPanic, up_for(86'400));
  EXPECT_EQ(first_of(of_another), "collective.rank_behind");
}

TEST(Ties, AConnectionThatBrokeTiesANicThatTheJobUsesAndNoOther) {
  for (const bool used : {true, false}) {
    Job job = sixteen_ranks();
    for (int rank = 0; rank < 16; ++rank)
      job.setting(rank, "devices", "IB", "mlx5_0:1/IB mlx5_2:1/IB");
    job.kernel("node-0", "mlx5_core 0000:5c:00.0: mlx5_2: registered", up_for(30));
    job.kernel("node-0", used ? kNicDown : kOtherNicDown, up_for(86'400));
    job.warn(2, kRetriesRanOut);
    EXPECT_EQ(first_of(job), used ? "network.link_down" : "network.transport_error");
  }
}

TEST(Ties, AWarningWithADatePlacesWhatTheKernelsSayInTime) {
  for (const auto before : {30s, 6 * 3600s}) {
    Job job = without_rank_3();
    job.warn(5, kRetriesRanOut, dated(0s));
    job.kernel("node-0", kNfs, dated(-before));
    const Diagnosis diagnosis = job.diagnosis();
    EXPECT_EQ(diagnosis.root_causes.front().cause == "host.storage_stall", before == 30s);
  }
}

TEST(Ties, WhatCameHoursBeforeACrashOnOneClockIsNotWhy) {
  const std::string segfault =
      "python3[1003]: segfault at 0 ip 00007f1c2a4b5e10 sp 00007ffd1e2c3b40 error 4 in "
      "libtorch_cuda.so[7f1c29000000+2000000]";
  Job job = without_rank_3();
  job.kernel("node-0", "cgroup: fork rejected by pids controller in /user.slice", up_for(60'000));
  job.kernel("node-0", segfault, up_for(90'000));
  EXPECT_EQ(first_of(job), "software.rank_crashed");
}

TEST(Ties, InContainersAKernelsNumberOfAProcessMayBeOfTheRankThatIsWaitedFor) {
  for (const bool in_containers : {true, false}) {
    Job job;
    job.in_containers = in_containers;
    job.join_all(16);
    job.call(ranks(0, 16), all_reduce(), 10);
    job.call(all_but(3, 16), all_reduce());
    job.kernel("node-0", "Memory cgroup out of memory: Killed process 62195 (python3) total-vm:1kB",
               up_for(86'400));
    EXPECT_EQ(first_of(job), in_containers ? "host.oom_killed" : "collective.rank_behind");
  }
}

TEST(Ties, AHostThatStartedAnewTookTheRankThatIsWaitedFor) {
  for (const int host : {0, 1}) {
    Job job = without_rank_3();
    job.kernel(Job::host_of(8 * host), "mlx5_core 0000:5c:00.0: mlx5_2: registered",
               up_for(86'400));
    job.boot(Job::host_of(8 * host), up_for(0));
    EXPECT_EQ(first_of(job), host == 0 ? "host.down" : "collective.rank_behind");
  }
}

TEST(Ties, AHostWhoseOwnCommunicatorStandsStoppedWhole) {
  Job job;
  job.join_all(24);
  for (int host = 0; host < 3; ++host)
    for (int rank = 0; rank < 8; ++rank)
      job.join(8 * host + rank, fmt::format("host-{}", host), rank, 8);
  job.call(ranks(0, 24), all_reduce(), 10);
  for (int host = 0; host < 3; ++host)
    job.call(ranks(8 * host, 8 * host + 8), all_gather(), 10, fmt::format("host-{}", host));
  job.call(ranks(8, 24), all_reduce());
  job.kernel("node-0", kNfs, up_for(86'400));
  EXPECT_EQ(first_of(job), "host.storage_stall");
}

}  // namespace
}  // namespace faultline
