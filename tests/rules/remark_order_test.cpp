// NCCL's warnings: which came first, which only follow, and which say nothing.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "remarks.h"
#include "rules/picture/read/swallowed_errors.h"

namespace faultline {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(RemarkCauses, InOneProcessTheFirstWarningIsTheCauseAndTheRestFollows) {
  Job job = hosts_of_eight();
  job.warn(4, "Cuda failure 'an illegal memory access was encountered'");
  job.warn(4, "Cuda failure 'out of memory'");
  job.warn(4, closed_by(1));
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.gpu_memory_fault"));
  EXPECT_THAT(causes(diagnosis.symptoms), Each(testing::AnyOf("nccl.error", "network.peer_lost")));
}

TEST(RemarkCauses, AcrossHostsTheEarlierOneComesFirst) {
  for (int first : {3, 12}) {
    Job job = hosts_of_eight();
    for (int rank : {3, 12})
      job.warn(rank, "Cuda failure 'an illegal memory access was encountered'",
               at(rank == first ? 0 : 90));
    const Diagnosis diagnosis = look(job);
    ASSERT_FALSE(diagnosis.root_causes.empty());
    EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(first));
  }
}

TEST(RemarkCauses, WarningsAfterTheProcessWasAbortedAreNoCause) {
  Job job = hosts_of_eight();
  job.warn(9, "Cuda failure 'out of memory'");
  abort_all(job, 16);
  job.warn(2, retry_exceeded(1));
  const Diagnosis diagnosis = look(job);
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("software.cuda_oom"));
}

// --- What says nothing by itself ----------------------------------------------------------------

TEST(RemarkSymptoms, EchoesAloneDoNotTellWhatHappenedAndTheRestIsAskedFor) {
  Job job = hosts_of_eight();
  for (int rank : {2, 3, 9})
    job.warn(rank, fmt::format("Socket recv failed while polling for opId=0x7f{:06x}", rank));
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::unknown);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("nccl.error"));
  EXPECT_LE(diagnosis.root_causes.front().confidence, 0.36);
  EXPECT_THAT(diagnosis.missing_evidence.front().what, HasSubstr("NCCL log of every rank"));
}

TEST(RemarkSymptoms, AnEchoBesideACauseIsItsSymptom) {
  Job job = hosts_of_eight();
  job.warn(2, "NET/IB: Got completion from peer 10.0.0.11<33210> with status=5 opcode=32594 len=0");
  job.warn(9, retry_exceeded(0));
  const Diagnosis diagnosis = look(job);
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("network.transport_error"));
  EXPECT_THAT(causes(diagnosis.symptoms), ElementsAre("nccl.error"));
}

TEST(RemarkCauses, TwoOfOneClassAndSubjectAreOneFinding) {
  // Pasted without hosts: only their words distinguish the two lines.
  Job job;
  for (const char* text :
       {"Bootstrap : no socket interface found",
        "socketStartConnect: Connect to 172.17.0.1<39275> failed : No route to host"})
    job.say({"j", "pasted.log", "", -1}, Speaker{},
            Remark{.dialect = "nccl", .level = "warn", .place = "", .function = "", .text = text},
            text);
  const Diagnosis diagnosis = job.diagnosis();
  std::set<std::string> ids;
  for (const Finding& finding : findings_of(diagnosis)) EXPECT_TRUE(ids.insert(finding.id).second);
  EXPECT_FALSE(ids.empty());
}

TEST(RemarkSymptoms, WarningsBeforeACleanEndLeaveTheJobHealthy) {
  Job job = hosts_of_eight();
  for (int rank : ranks(0, 16)) {
    job.warn(rank, "socketTryAccept: Accept failed: Interrupted");
    job.warn(rank, "Could not receive type from localRank");
    job.warn(rank, "Socket recv failed while polling for opId=0x7f0011223344");
    job.warn(rank, closed_by(1 - rank / 8));
    job.back_trace(rank, "misc/socket.cc:752", 3);
    job.end(rank, "world", CommunicatorEnding::destroyed);
  }
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy);
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
}

TEST(RemarkSymptoms, ARankThatEndedCleanlyIsNotExcusedForWhatItDidToOthers) {
  Job job = hosts_of_eight();
  job.warn(4, "Cuda failure 'out of memory'");
  job.end(4, "world", CommunicatorEnding::destroyed);  // its program cleans up before it exits
  for (int rank : all_but(4, 16)) job.end(rank, "world", CommunicatorEnding::aborted);
  EXPECT_THAT(causes(look(job).root_causes), ElementsAre("software.cuda_oom"));
}

TEST(RemarkSymptoms, AnUnknownWarningInAJobThatGoesOnIsNoFailure) {
  Job job = hosts_of_eight();
  job.warn(4, "something that no signature knows");
  job.call(ranks(0, 16), all_reduce(), 5);
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy);
  ASSERT_THAT(causes(diagnosis.observations), ElementsAre("nccl.error"));
  EXPECT_THAT(diagnosis.observations.front().title, HasSubstr("something that no signature knows"));
}

TEST(RemarkSymptoms, AnUnknownWarningThatIsARanksLastWordLeavesTheVerdictOpen) {
  Job job = hosts_of_eight();
  job.warn(4, "something harmless that no signature knows");
  job.call(ranks(0, 16), all_reduce());
  job.warn(4, "something that no signature knows");
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::unknown);
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  EXPECT_THAT(diagnosis.summary,
              HasSubstr("something that no signature knows; nothing comes after"));

  // The warning is not the last word if the rank's communicators end after it, or if its log is
  // still being written.
  Job ended = job;
  for (int rank = 0; rank < 16; ++rank) ended.end(rank, "world", CommunicatorEnding::destroyed);
  EXPECT_EQ(look(ended).verdict, Verdict::healthy);
  Job live = job;
  live.moment.live_sources = {Job::source_of(4).name};
  EXPECT_EQ(look(live).verdict, Verdict::healthy);
}

TEST(RemarkSymptoms, AnUnknownWarningThatReturnedAnErrorIsShown) {
  Job job = hosts_of_eight();
  job.warn(4, "something that no signature knows");
  job.back_trace(4, "init.cc:1300", 3);
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::failed);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("nccl.error"));
  EXPECT_EQ(diagnosis.root_causes.front().title,
            "NCCL warned rank 4 on node-0: something that no signature knows");
  EXPECT_LE(diagnosis.root_causes.front().confidence, 0.5);
}

TEST(RemarkSymptoms, AnUnknownWarningOfARankThatIsBehindStandsBesideIt) {
  Job job = hosts_of_eight();
  job.warn(4, "something that no signature knows");
  job.call(all_but(4, 16), all_reduce());
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
  EXPECT_THAT(causes(diagnosis.symptoms), ElementsAre("nccl.error"));
}

TEST(RemarkSymptoms, AbortsWithoutAnythingElseAreHowSomeFrameworksEnd) {
  Job job = hosts_of_eight();
  abort_all(job, 16);
  EXPECT_EQ(look(job).verdict, Verdict::healthy);
}

// --- Errors that reach nobody -------------------------------------------------------------------

TEST(RemarkCauses, VersionsThatSwallowErrorsHangWhereOthersFail) {
  for (const auto& [version, verdict] :
       std::map<std::string, Verdict>{{"2.18.3+cuda12.1", Verdict::hang},
                                      {"2.21.5+cuda12.4", Verdict::failed},
                                      {"2.26.2+cuda12.8", Verdict::hang},
                                      {"2.27.7+cuda12.8", Verdict::hang},
                                      {"2.28.3+cuda13.0", Verdict::failed}}) {
    Job job = hosts_of_eight();
    job.setting(0, "version", "nccl", version);  // rank 0 prints it for all
    job.warn(9, retry_exceeded(0));
    EXPECT_EQ(look(job).verdict, verdict) << version;
  }
}

TEST(RemarkCauses, ASwallowedErrorHangsTheJobAlsoWhereAPortExplainsIt) {
  Job job = hosts_of_eight();
  job.setting(0, "version", "nccl", "2.27.7+cuda12.8");
  job.warn(1, "NET/IB : mlx5_1:1 Got async error event: port error", at(0));
  job.warn(1, retry_exceeded(1, " hca mlx5_1"), at(32));
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("network.link_down"));
}

TEST(RemarkCauses, OnlyErrorsOfTransfersAreSwallowed) {
  Job job = hosts_of_eight();
  job.setting(0, "version", "nccl", "2.27.7+cuda12.8");
  job.warn(9, "Cuda failure 'out of memory'");
  EXPECT_EQ(look(job).verdict, Verdict::failed);
}

TEST(RemarkCauses, VersionsAreComparedByNumber) {
  EXPECT_TRUE(swallows_transfer_errors("2.18.1"));
  EXPECT_TRUE(swallows_transfer_errors("2.27.3+cuda12.9"));
  EXPECT_FALSE(swallows_transfer_errors("2.18.0"));
  EXPECT_FALSE(swallows_transfer_errors("2.3.7"));
  EXPECT_FALSE(swallows_transfer_errors("2.30.7"));
  EXPECT_FALSE(swallows_transfer_errors(""));
  EXPECT_FALSE(swallows_transfer_errors("a word"));
}

// --- Size ---------------------------------------------------------------------------------------

TEST(RemarkCauses, AStormOfWarningsIsOneFindingWithItsCount) {
  Job job = hosts_of_eight();
  for (int i = 0; i < 100'000; ++i) job.warn(9, closed_by(0, 1024 + i % 60000));
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.peer_lost"));
  EXPECT_EQ(diagnosis.root_causes.front().count, 100'000U);
  EXPECT_THAT(diagnosis.root_causes.front().evidence, SizeIs(1));
}

}  // namespace
}  // namespace faultline
