#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job.h"
#include "rules/knowledge/limits.h"

namespace faultline {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Job starting_job(int nranks, const std::vector<int>& those) {
  Job job;
  for (int rank : those) job.begin_to_join(rank, "world", rank, nranks);
  return job;
}

// What a process prints before it joins, in versions that print no line when a join begins.
void bootstrap(Job& job, int rank, int launcher_rank = -1) {
  Speaker speaker = Job::speaker_of(rank);
  speaker.rank = launcher_rank;
  job.say(Job::source_of(rank), speaker, Setting{"interface", "bootstrap", "eth0:10.0.0.1<0>"},
          "NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>");
}

TEST(MissingRank, ARankThatNeverBeganIsNamedWithItsHost) {
  Diagnosis diagnosis = starting_job(16, all_but(11, 16)).diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("launch.rank_missing"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_THAT(finding.subject.ranks, ElementsAre(11));
  EXPECT_THAT(finding.subject.hosts, ElementsAre("node-1"));
  EXPECT_EQ(finding.title,
            "Rank 11 on node-1 never joined communicator world, and 15 ranks wait for it");
  EXPECT_GE(finding.confidence, 0.8);
  EXPECT_EQ(finding.evidence.front().text, "rank 0 begins to join world");
}

TEST(MissingRank, ItsLastLineIsShownIfItPrintedSomeBeforeItStopped) {
  Job job = starting_job(16, all_but(11, 16));
  bootstrap(job, 11);
  Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("launch.rank_missing"));
  EXPECT_EQ(diagnosis.root_causes.front().evidence.front().source, "rank-11.log");
  EXPECT_GE(diagnosis.root_causes.front().confidence, 0.85);
}

TEST(MissingRank, OnceARankKnowsTheShapeAllHaveJoinedAndOnlyTheirLogsAreMissing) {
  Job job = starting_job(16, all_but(11, 16));
  job.print_shape(3, "world", 3, 16);
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  EXPECT_EQ(diagnosis.verdict, Verdict::unknown);
  EXPECT_THAT(causes(diagnosis.observations), ElementsAre("collective.stalled"));
  const auto asks = [](const MissingEvidence& missing) {
    return missing.what.find("rank 11") != std::string::npos;
  };
  EXPECT_TRUE(std::ranges::any_of(diagnosis.missing_evidence, asks));
}

TEST(MissingRank, AWholeHostWithoutLinesMayAsWellHaveNoLogHere) {
  Diagnosis diagnosis = starting_job(16, ranks(0, 8)).diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("launch.rank_missing"));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("Ranks 8 to 15 never joined"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, IsEmpty());
  EXPECT_LE(diagnosis.root_causes.front().confidence, 0.58);
}

TEST(MissingRank, FewLogsOfManyAccuseNobody) {
  Diagnosis diagnosis = starting_job(16, ranks(0, 3)).diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::unknown);
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  EXPECT_THAT(diagnosis.missing_evidence.front().what, HasSubstr("rank 3 to 15"));
}

TEST(MissingRank, WhereOthersFinishedAMissingLogIsNoMissingRank) {
  Job job;
  for (int rank : all_but(11, 16)) job.join(rank, "world", rank, 16);
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
}

TEST(MissingRank, ARankThatBeganAndDidNotFinishAsItsPeersDidIsStuck) {
  Job job;
  for (int rank : all_but(5, 8)) job.join(rank, "world", rank, 8);
  job.begin_to_join(5, "world", 5, 8);
  job.call(all_but(5, 8), all_reduce());
  Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("launch.rank_missing"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_THAT(finding.subject.ranks, ElementsAre(5));
  EXPECT_THAT(finding.title, HasSubstr("began to join communicator world and never finished"));
  EXPECT_EQ(finding.evidence.front().text, "rank 5 begins to join world");
  EXPECT_THAT(causes(diagnosis.symptoms), ElementsAre("collective.rank_behind"));
}

TEST(MissingRank, OneWhoWentOnToWorkHasOnlyLostALine) {
  Job job;
  for (int rank : all_but(5, 8)) job.join(rank, "world", rank, 8);
  job.begin_to_join(5, "world", 5, 8);
  job.call(ranks(0, 8), all_reduce(), 2);
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
  Job other;
  for (int rank : all_but(5, 8)) other.join(rank, "world", rank, 8);
  other.begin_to_join(5, "world", 5, 8);
  for (int rank = 0; rank < 8; ++rank) other.join(rank, "again", rank, 8);
  EXPECT_THAT(other.diagnosis().root_causes, IsEmpty());
}

TEST(MissingRank, AStartThatNobodyFinishedBlamesNobody) {
  Diagnosis diagnosis = starting_job(8, ranks(0, 8)).diagnosis();
  // The log may have been cut there, or the job is still starting.
  EXPECT_EQ(diagnosis.verdict, Verdict::unknown);
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  ASSERT_THAT(causes(diagnosis.observations), ElementsAre("collective.stalled"));
  EXPECT_EQ(diagnosis.observations.front().title,
            "All 8 ranks began to set up communicator world and none finished");
  EXPECT_THAT(diagnosis.observations.front().actions.front().command, HasSubstr("BOOTSTRAP"));
}

TEST(MissingRank, AStartThatIsStillBeingWrittenIsNoHang) {
  Job job = starting_job(8, ranks(0, 7));
  job.moment.live_sources = {"rank-3.log"};
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
}

TEST(MissingRank, OfASplitWhoTookNoPartIsNamedByItsRankInTheJob) {
  Job job;
  job.join_all(16);
  auto split = [&](int rank, bool complete) {
    job.say(Job::source_of(rank), Job::speaker_of(rank),
            CommunicatorInit{.communicator = 0x77,
                             .rank = rank / 8,
                             .nranks = 2,
                             .gpu = Job::gpu_of(rank),
                             .parent = 0x1000,
                             .child = 1,
                             .color = rank % 8,
                             .function = "ncclCommSplit",
                             .complete = complete},
            fmt::format("rank {} splits", rank));
  };
  for (int rank : all_but(11, 16)) split(rank, rank != 3);
  Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("launch.rank_missing"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(11));
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, ElementsAre("node-1"));
  EXPECT_EQ(diagnosis.root_causes.front().evidence.front().text, "rank 3 splits");
}

TEST(MissingRank, SeveralCommunicatorsThatNobodyFinishedAreOneFinding) {
  Job job;
  for (int rank = 0; rank < 8; ++rank)
    job.begin_to_join(rank, fmt::format("pair-{}", rank / 2), rank % 2, 2);
  Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.observations), ElementsAre("collective.stalled"));
  EXPECT_THAT(diagnosis.observations.front().title, HasSubstr("4 communicators in all"));
}

TEST(MissingRank, BeforeAnInitLineAHostWithOneProcessFewerIsNamed) {
  Job job;
  for (int rank : all_but(19, 32)) bootstrap(job, rank);
  Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("launch.rank_missing"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_THAT(finding.subject.hosts, ElementsAre("node-2"));
  EXPECT_THAT(finding.subject.ranks, IsEmpty());
  EXPECT_THAT(finding.title, HasSubstr("node-2 has 7 processes of the job"));
  EXPECT_LE(finding.confidence, 0.79);
}

TEST(MissingRank, ALaunchersNumbersTellWhichRankIsAbsent) {
  Job job;
  for (int rank : all_but(19, 32)) bootstrap(job, rank, rank);
  const Finding finding = job.diagnosis().root_causes.at(0);
  EXPECT_THAT(finding.subject.ranks, ElementsAre(19));
  EXPECT_THAT(finding.subject.hosts, ElementsAre("node-2"));
}

TEST(MissingRank, EqualHostsOrAStartThatSucceededAccuseNobody) {
  Job equal;
  for (int rank = 0; rank < 16; ++rank) bootstrap(equal, rank);
  EXPECT_THAT(equal.diagnosis().root_causes, IsEmpty());
  Job joined;
  for (int rank : all_but(11, 16)) bootstrap(joined, rank);
  for (int rank : all_but(11, 16)) joined.join(rank, "world", rank, 15);
  EXPECT_THAT(joined.diagnosis().root_causes, IsEmpty());
  Job connected;  // their Init lines are not logged
  for (int rank : all_but(11, 16)) bootstrap(connected, rank);
  connected.say(Job::source_of(0), Job::speaker_of(0), SetupStep{.step = "rings"},
                "NCCL INFO Connected all rings");
  EXPECT_THAT(connected.diagnosis().root_causes, IsEmpty());
}

// --- One GPU for two ranks ----------------------------------------------------------------------

void begin_on(Job& job, int rank, const std::string& host, const std::string& gpu, bool complete) {
  job.say(Job::source_of(rank), Speaker{host, 1000 + rank, 0, -1},
          CommunicatorInit{.communicator = 0x10,
                           .rank = rank,
                           .nranks = 4,
                           .gpu = gpu,
                           .communicator_id = "0xabc",
                           .complete = complete},
          fmt::format("rank {} init", rank));
}

Job on_gpus(const std::vector<std::string>& gpus, bool complete) {
  Job job;
  for (int rank = 0; rank < 4; ++rank)
    begin_on(job, rank, fmt::format("node-{}", rank / 2), gpus[static_cast<std::size_t>(rank)],
             complete);
  return job;
}

TEST(DuplicateGpu, TwoRanksOnOneGpuOfOneHostAreNamed) {
  Diagnosis diagnosis =
      on_gpus({"0000:1b:00.0", "0000:43:00.0", "0000:1b:00.0", "0000:1b:00.0"}, false).diagnosis();
  ASSERT_FALSE(diagnosis.root_causes.empty());
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_EQ(finding.cause, "software.invalid_usage");
  EXPECT_THAT(finding.subject.ranks, ElementsAre(2, 3));
  EXPECT_THAT(finding.subject.gpus, ElementsAre("node-1/0000:1b:00.0"));
  EXPECT_THAT(finding.title, HasSubstr("use one GPU, node-1/0000:1b:00.0"));
  EXPECT_THAT(causes(diagnosis.symptoms), ElementsAre("collective.stalled"));
}

// NCCL compares GPUs only when all have joined.
TEST(DuplicateGpu, IsNotWhatRanksWaitForWhileOneWhoseLogIsHereHasNotJoined) {
  const auto cause = [](int with_log) {
    Job job;
    for (int rank = 0; rank < 3; ++rank) begin_on(job, rank, "node-7", "0000:1b:00.0", false);
    job.state.apply({.job = "j", .name = fmt::format("rank{}.log", with_log)}, Batch{},
                    Timestamp{});
    Diagnosis diagnosis = job.diagnosis();
    return diagnosis.root_causes.empty() ? Finding{} : diagnosis.root_causes.front();
  };
  EXPECT_EQ(cause(3).cause, "launch.rank_missing");
  EXPECT_THAT(cause(3).subject.ranks, ElementsAre(3));
  EXPECT_EQ(cause(2).cause, "software.invalid_usage");
}

TEST(DuplicateGpu, TheSameAddressOnAnotherHostIsNormal) {
  Diagnosis diagnosis =
      on_gpus({"0000:1b:00.0", "0000:43:00.0", "0000:1b:00.0", "0000:43:00.0"}, true).diagnosis();
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
}

TEST(DuplicateGpu, WhatNcclAcceptedIsNotAccused) {
  // Two machines have one name: NCCL can tell them apart, but its lines do not.
  Diagnosis diagnosis =
      on_gpus({"0000:1b:00.0", "0000:1b:00.0", "0000:1b:00.0", "0000:1b:00.0"}, true).diagnosis();
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
}

// A log that begins in mid-run may have been cut at its end as well.
TEST(RankMissing, IsLessSureWhereTheLogIsAnExcerpt) {
  const auto sureness = [](bool excerpt) {
    Job job;
    for (int rank = 0; rank < 4; ++rank) job.join(rank, "world", rank, 4);
    if (excerpt) job.call_as_stranger(3, all_reduce(), 4, 700);
    for (int rank = 0; rank < 3; ++rank) job.join(rank, "late", rank, 4);
    for (int rank = 0; rank < 3; ++rank) job.call({rank}, all_reduce(), 1, "late");
    job.begin_to_join(3, "late", 3, 4);
    const Diagnosis diagnosis = job.diagnosis();
    for (const Finding& finding : diagnosis.root_causes)
      if (finding.cause == Cause::launch_rank_missing) return finding.confidence;
    return 0.0;
  };
  EXPECT_GT(sureness(false), limits::least_to_blame);
  EXPECT_LT(sureness(true), limits::least_to_blame);
}

}  // namespace
}  // namespace faultline
