#include "rules/answer/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "job.h"
#include "rules/answer/diagnosis_forms.h"
#include "rules/knowledge/limits.h"
#include "seconds.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Sixteen ranks on two hosts; rank 11, on node-1, never enters the last call.
Job hung_job() {
  Job job;
  job.join_all(16);
  job.call(ranks(0, 16), all_reduce(), 100);
  job.call(all_but(11, 16), all_reduce());
  return job;
}

TEST(Diagnosis, RanksInStepAreHealthy) {
  Job job;
  job.join_all(16);
  job.call(ranks(0, 16), all_reduce(), 100);
  Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy);
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  EXPECT_EQ(diagnosis.ranks.expected, 16);
  EXPECT_EQ(diagnosis.ranks.seen, 16);
}

TEST(Diagnosis, NamesTheRankThatOthersWaitFor) {
  Job job;
  job.join_all(16);
  job.call(ranks(0, 16), all_reduce(), 100);
  job.call(all_but(11, 16), all_gather());
  Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_THAT(finding.subject.ranks, ElementsAre(11));
  EXPECT_THAT(finding.subject.hosts, ElementsAre("node-1"));
  EXPECT_EQ(finding.title,
            "Rank 11 on node-1 never entered AllGather #101 of communicator world, in which 15 "
            "peers wait");
  EXPECT_EQ(finding.evidence.front().source, "rank-11.log");
  EXPECT_THAT(diagnosis.missing_evidence.front().what, HasSubstr("kernel log of node-1"));
}

TEST(Diagnosis, RawOpCountsThatDifferMeanNothing) {
  Job job;
  job.join_all(4);
  for (int call = 0; call < 20; ++call)
    for (int rank = 0; rank < 4; ++rank) {
      // From NCCL 2.27 on only ranks with network traffic count. A Send counts on its sender.
      if (rank == 0) job.exchange(0, 1);
      job.call_once(rank, all_reduce(), "world", rank == 0 ? 2U * static_cast<unsigned>(call) : 0U);
    }
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

TEST(Diagnosis, EqualOpCountsDoNotHideARankThatIsBehind) {
  Job job;
  job.join_all(4);
  for (int call = 0; call < 20; ++call)
    for (int rank = 0; rank < 4; ++rank)
      if (rank != 2 || call < 19) job.call_once(rank, all_reduce(), "world", 0);
  EXPECT_THAT(job.diagnosis().ranks.behind, ElementsAre(2));
}

TEST(Diagnosis, FollowsNestedCommunicatorsToWhoeverEverybodyWaitsFor) {
  // Tensor parallel inside a host, data parallel across hosts. Rank 9 stops; the other ranks of
  // its host wait for it, and the other host waits for this host.
  Job job;
  job.join_all(16);
  for (int rank = 0; rank < 16; ++rank)
    job.join(rank, fmt::format("tensor-{}", rank / 8), rank % 8, 8);
  for (int rank = 0; rank < 16; ++rank) {
    job.call({rank}, all_reduce(), 10);
    if (rank != 9) job.call({rank}, all_reduce(), 1, fmt::format("tensor-{}", rank / 8));
    if (rank / 8 == 0) job.call({rank}, all_gather());
  }
  Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(diagnosis.ranks.behind, ElementsAre(9));
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("tensor-1"));
}

// Data parallel across two hosts, with a communicator for each pair of GPUs. One host stops, and
// each of its ranks is behind in a different communicator.
TEST(Diagnosis, AHostThatStoppedIsOneFindingAndNotOneForEachRank) {
  const auto diagnosis_where = [](int stopped) {
    Job job;
    job.join_all(16);
    for (int rank = 0; rank < 16; ++rank)
      job.join(rank, fmt::format("data-{}", rank % 8), rank / 8, 2);
    // Ranks 8 and 9 are both behind in one more communicator.
    for (const int rank : {0, 8, 9}) job.join(rank, "odd", rank % 7, 3);
    for (int rank = 0; rank < 16; ++rank) {
      job.call({rank}, all_reduce(), 10);
      if (rank == 0) job.call({rank}, all_reduce(), 1, "odd");
      if (rank < 8 || rank >= 8 + stopped)
        job.call({rank}, all_gather(), 1, fmt::format("data-{}", rank % 8));
    }
    return job.diagnosis();
  };
  const Diagnosis diagnosis = diagnosis_where(8);
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
  const Finding& cause = diagnosis.root_causes.front();
  EXPECT_EQ(cause.title,
            "All 8 ranks of node-1 stopped, each before a call in which peers wait; 8 ranks wait "
            "in all");
  EXPECT_THAT(cause.subject.ranks, ElementsAre(8, 9, 10, 11, 12, 13, 14, 15));
  EXPECT_EQ(cause.subject.communicators.size(), 9);
  EXPECT_THAT(diagnosis.missing_evidence.front().why, HasSubstr("rank 8 to 15"));

  for (const Finding& other : diagnosis_where(7).root_causes)
    EXPECT_THAT(other.title, testing::Not(HasSubstr("of node-1 stopped"))) << "one of it goes on";
}

TEST(Diagnosis, AGpuThatFellOffTheBusExplainsItsRank) {
  Job job = hung_job();
  job.xid("node-1", Job::gpu_of(11), 79);
  Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.off_bus"));
  const Finding& cause = diagnosis.root_causes.front();
  EXPECT_THAT(cause.subject.ranks, ElementsAre(11));
  EXPECT_THAT(cause.subject.gpus, ElementsAre("node-1/" + Job::gpu_of(11)));
  EXPECT_THAT(causes(diagnosis.symptoms), ElementsAre("collective.rank_behind"));
  EXPECT_THAT(diagnosis.chain, ElementsAre(cause.id, diagnosis.symptoms.front().id));
  EXPECT_GE(cause.confidence, 0.95);
  EXPECT_EQ(cause.evidence.front().text, "Xid 79");
  EXPECT_FALSE(cause.actions.empty());
}

TEST(Diagnosis, TheSameAddressOnAnotherHostIsNotAccused) {
  Job job = hung_job();
  job.xid("node-7", Job::gpu_of(11), 79);
  Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
  EXPECT_THAT(causes(diagnosis.observations), ElementsAre("gpu.off_bus"));
}

TEST(Diagnosis, AnotherRanksGpuDoesNotExplainTheOneThatIsBehind) {
  Job job = hung_job();
  job.xid("node-0", Job::gpu_of(2), 63);
  Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
}

TEST(Diagnosis, AnXidFromBeforeTheJobIsNotAccused) {
  Job job;
  for (int rank = 0; rank < 8; ++rank)
    job.say(Job::source_of(rank), Job::speaker_of(rank),
            CommunicatorInit{.communicator = 1,
                             .rank = rank,
                             .nranks = 8,
                             .gpu = Job::gpu_of(rank),
                             .communicator_id = "w",
                             .complete = true},
            "init", at(5000));
  job.xid("node-0", Job::gpu_of(3), 79, at(10));
  Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  ASSERT_THAT(causes(diagnosis.observations), ElementsAre("gpu.off_bus"));
  EXPECT_THAT(diagnosis.observations.front().title, HasSubstr("before the job began"));
}

TEST(Diagnosis, AKernelLogWithoutAHostIsTiedByTheRankThatIsBehindAndLessSurely) {
  Job job = hung_job();
  job.xid("", Job::gpu_of(11), 79);  // ranks 3 and 11 have this address
  Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.off_bus"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(11));
  EXPECT_LE(diagnosis.root_causes.front().confidence, 0.89);
  EXPECT_THAT(diagnosis.missing_evidence.back().what, HasSubstr("host of dmesg.txt"));
}

TEST(Diagnosis, WithoutInitLinesAnXidsProcessTellsWhoseGpuItIs) {
  Job job;
  for (int rank = 0; rank < 8; ++rank) job.call_as_stranger(rank, all_reduce(), 8, 5);
  for (int rank : all_but(3, 8)) job.call_as_stranger(rank, all_reduce(), 8, 6);
  job.say(Job::kernel_of("node-0"), Speaker{},
          GpuXid{.gpu = Job::gpu_of(3), .code = 79, .pid = Job::speaker_of(3).pid}, "Xid 79");
  Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.off_bus"));
  EXPECT_THAT(causes(diagnosis.symptoms), ElementsAre("collective.rank_behind"));
  EXPECT_THAT(diagnosis.missing_evidence, IsEmpty());
}

TEST(Diagnosis, AContainersNameIsTiedToTheMachineItsSenderNames) {
  Job job;
  for (int rank = 0; rank < 2; ++rank) {
    Source source{"j", fmt::format("pod-{}.log", rank), fmt::format("gpu-node-{}", rank), -1};
    Speaker speaker{fmt::format("llama-worker-{}", rank), 7, 0, -1};
    job.say(source, speaker,
            CommunicatorInit{.communicator = 1,
                             .rank = rank,
                             .nranks = 2,
                             .gpu = "0000:3b:00.0",
                             .communicator_id = "w",
                             .complete = true},
            "init");
  }
  job.xid("gpu-node-1", "0000:3b:00.0", 79);
  Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.off_bus"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(1));
}

TEST(Diagnosis, AUserProgramsFaultIsNeverCalledHardware) {
  for (int code : {13, 31, 43}) {
    Job job;
    job.join_all(8);
    job.call(ranks(0, 8), all_reduce(), 10);
    job.xid("node-0", Job::gpu_of(3), code);
    Diagnosis diagnosis = job.diagnosis();
    ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.gpu_memory_fault")) << code;
    for (const Action& action : diagnosis.root_causes.front().actions)
      EXPECT_THAT(action.what, testing::Not(HasSubstr("eplace the GPU"))) << code;
  }
}

TEST(Diagnosis, NamesTheMinorityThatCalledSomethingElse) {
  Job job;
  job.join_all(8);
  job.call(ranks(0, 8), all_reduce(), 10);
  job.call({5}, all_gather(77));
  job.call(all_but(5, 8), all_reduce());
  Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.collective_mismatch"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(5));
  EXPECT_EQ(diagnosis.root_causes.front().evidence.front().source, "rank-5.log");
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
}

TEST(Diagnosis, TheMinorityIsNamedAlsoWhenItIsReadFirst) {
  Job job;
  job.join_all(8);
  job.call({0}, all_gather(77));
  job.call(all_but(0, 8), all_reduce(), 3);
  EXPECT_THAT(job.diagnosis().root_causes.front().subject.ranks, ElementsAre(0));
}

TEST(Diagnosis, WithTwoEqualCampsBothAreNamedAndNobodyIsSure) {
  Job job;
  job.join_all(4);
  job.call({0, 1}, all_reduce());
  job.call({2, 3}, all_gather());
  Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.collective_mismatch"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(0, 1, 2, 3));
  EXPECT_LE(diagnosis.root_causes.front().confidence, 0.58);
}

TEST(Diagnosis, ARankThatSkippedACallIsSaidToHaveSkippedIt) {
  Job job;
  job.join_all(8);
  for (int step = 0; step < 10; ++step) {
    job.call(all_but(step == 4 ? 6 : -1, 8), all_gather(5));
    job.call(ranks(0, 8), all_reduce());
  }
  Diagnosis diagnosis = job.diagnosis();
  ASSERT_FALSE(diagnosis.root_causes.empty());
  EXPECT_EQ(diagnosis.root_causes.front().cause, "software.collective_skipped");
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(6));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("#9 of communicator world"));
}

TEST(Diagnosis, ASourceThatIsStillBeingWrittenIsNotBehind) {
  Job job;
  job.join_all(4);
  job.call(ranks(0, 4), all_reduce(), 10);
  job.call(all_but(2, 4), all_reduce());
  job.moment.live_sources = {"rank-2.log"};
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  EXPECT_EQ(diagnosis.verdict, Verdict::unknown) << "nor are the ranks in step";
}

TEST(Diagnosis, ALogThatBrokeOffIsAskedForAndNotAccused) {
  Job job = hung_job();
  job.log_ends(11, SourceEnd::open);
  Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::unknown);
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  EXPECT_EQ(diagnosis.missing_evidence.front().what, "the rest of rank-11.log");
  job.moment.waiting_sources = {"rank-11.log"};  // open, and no line has come for long
  EXPECT_EQ(job.diagnosis().verdict, Verdict::hang);
}

TEST(Diagnosis, ALogTornInsideALineMakesLessSure) {
  Job job = hung_job();
  job.log_ends(11, SourceEnd::torn);
  Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
  EXPECT_LE(diagnosis.root_causes.front().confidence, 0.79);
}

TEST(Diagnosis, RanksLateHereAndThereMakeLessSure) {
  Job job;
  job.join_all(16);
  for (int rank = 0; rank < 16; ++rank) job.join(rank, fmt::format("t-{}", rank / 8), rank % 8, 8);
  for (int host = 0; host < 2; ++host) {
    job.call(ranks(host * 8, host * 8 + 8), all_reduce(), 5, fmt::format("t-{}", host));
    for (int rank = host * 8; rank < host * 8 + 7; ++rank)
      job.call({rank}, all_reduce(), 1, fmt::format("t-{}", host));
  }
  Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(diagnosis.ranks.behind, ElementsAre(7, 15));
  for (const Finding& finding : diagnosis.root_causes)
    EXPECT_LT(finding.confidence, limits::least_to_exclude);
}

TEST(Diagnosis, ATeardownAloneAccusesNobody) {
  Job job = hung_job();
  job.xid("node-1", Job::gpu_of(11), 45);
  EXPECT_THAT(causes(job.diagnosis().root_causes), ElementsAre("collective.rank_behind"));
  Job well;
  well.join_all(8);
  well.call(ranks(0, 8), all_reduce(), 5);
  well.xid("node-0", Job::gpu_of(1), 45);
  EXPECT_EQ(well.diagnosis().verdict, Verdict::healthy);
}

TEST(Diagnosis, AnXidOnAHostThatNobodyNamesFailsNoHealthyJob) {
  Job job;
  job.join_all(16);
  job.call(ranks(0, 16), all_reduce(), 5);
  job.xid("", Job::gpu_of(3), 79);  // ranks 3 and 11 have this address
  Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy);
  EXPECT_THAT(causes(diagnosis.observations), ElementsAre("gpu.off_bus"));
}

TEST(Diagnosis, OneProcessMayDriveSeveralGpusAlsoWhereNoBusIdIsPrinted) {
  Job job;
  for (int rank = 0; rank < 4; ++rank) {
    CommunicatorInit init{.communicator = 0x100U + static_cast<unsigned>(rank),
                          .rank = rank,
                          .nranks = 4,
                          .cuda_device = rank,
                          .complete = true};
    job.say(Source{"j", "all.log", "", -1}, Speaker{"node-0", 77, rank, -1}, init, "init");
  }
  Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.ranks.seen, 4);
  EXPECT_EQ(diagnosis.ranks.expected, 4);
}

// NCCL before commId: sixteen ranks on two hosts, in groups of four.
Job job_of_groups_without_ids(int ranks_logged) {
  Job job;
  for (int rank = 0; rank < ranks_logged; ++rank) {
    CommunicatorInit init{.communicator = 0x10,
                          .rank = rank % 4,
                          .nranks = 4,
                          .gpu = Job::gpu_of(rank),
                          .complete = true};
    job.say(Job::source_of(rank), Job::speaker_of(rank), init, "init");
    job.call_on(rank, 0x10, 4, all_reduce(), 0);
  }
  return job;
}

TEST(Diagnosis, CommunicatorsThatNobodyCouldTellApartAreNotCalledHealthy) {
  EXPECT_EQ(job_of_groups_without_ids(15).diagnosis().verdict, Verdict::unknown);
}

TEST(Diagnosis, GroupsLaidOutAsAGridAreGuessedByTheirOrder) {
  Job job = job_of_groups_without_ids(16);
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
  for (int rank : {4, 5, 7}) job.call_on(rank, 0x10, 4, all_reduce(), 1);
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(diagnosis.root_causes.size(), 1u);
  EXPECT_EQ(diagnosis.root_causes[0].cause, "collective.rank_behind");
  EXPECT_THAT(diagnosis.root_causes[0].subject.gpus, ElementsAre(HasSubstr(Job::gpu_of(6))));
  EXPECT_LE(diagnosis.root_causes[0].confidence, 0.79);
}

TEST(Diagnosis, ACommunicatorThatAllLeftInGoodOrderIsOver) {
  Job job;
  job.join_all(4);
  job.call(ranks(0, 4), all_reduce(), 10);
  job.call(all_but(2, 4), all_reduce());  // rank 2's last line was lost
  for (int rank = 0; rank < 4; ++rank) job.end(rank, "world", CommunicatorEnding::destroyed);
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

TEST(Diagnosis, ACopyOfALogChangesNothing) {
  Job job;
  job.join_all(4);
  job.call(ranks(0, 4), all_reduce(), 10);
  // The same ten calls of rank 1 again, from another file.
  Source copy{"j", "rank-1.log.bak", "", -1};
  for (std::uint64_t op = 0; op < 10; ++op) {
    Batch batch;
    batch.to_offset = 100;
    batch.end = SourceEnd::whole;
    batch.speakers = {Job::speaker_of(1)};
    batch.signatures = {all_reduce()};
    CallRun run;
    run.communicator = 0x1000;
    run.nranks = 4;
    run.calls = {{op, 0, 0, 0}};
    batch.runs = {run};
    job.state.apply(copy, batch, Timestamp{});
  }
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

TEST(Diagnosis, ALogThatBeginsInMidRunIsAskedForAndNotAccused) {
  Job job;
  for (int rank = 0; rank < 3; ++rank) job.join(rank, "world", rank, 4);
  job.call(ranks(0, 3), all_reduce(), 10);
  // Rank 3's log has no Init line and only the last two calls.
  for (std::uint64_t call : {8, 9}) job.call_once(3, all_reduce(), "world", call);
  Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy);
}

TEST(Diagnosis, AllEnteredAndNoneFinishedIsAStall) {
  Signature done = all_reduce(0);
  done.done = true;
  Job job;
  job.join_all(4);
  for (int rank = 0; rank < 4; ++rank) {
    job.call_once(rank, all_reduce(), "world", 1);
    job.call_once(rank, done, "world", 1);
    job.call_once(rank, all_reduce(), "world", 2);
  }
  EXPECT_THAT(causes(job.diagnosis().root_causes), ElementsAre("collective.stalled"));
  job.call_once(0, done, "world", 2);
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy) << "one finished it, so the others may yet";
}

TEST(Diagnosis, NothingToLookAtIsNotHealth) {
  Job job;
  EXPECT_EQ(job.diagnosis().verdict, Verdict::unknown);
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
}

TEST(Diagnosis, RanksThatOnlyBeganToJoinAreNotCalledHealthy) {
  Job job;
  job.join_all(3);
  job.say(Job::source_of(3), Job::speaker_of(3),
          CommunicatorInit{.communicator = 9, .rank = 3, .nranks = 4, .communicator_id = "world"},
          "Init START");
  Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::unknown);
  EXPECT_THAT(diagnosis.summary, HasSubstr("began to set up"));
}

TEST(Diagnosis, TheTextIsShortAndHarmless) {
  Job job;
  job.join_all(64);
  job.call(ranks(0, 64), all_reduce(), 10);
  job.call(all_but(27, 64), all_reduce());
  job.say(Job::kernel_of("node-3"), Speaker{}, GpuXid{.gpu = Job::gpu_of(27), .code = 79},
          "\x1b[31mXid\x07 79\x1b[0m" + std::string(9000, 'x'));
  std::string text = to_text(job.diagnosis());
  EXPECT_LE(text.size(), 2048U);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_THAT(text, HasSubstr("HANG"));
  EXPECT_THAT(text, HasSubstr("gpu.off_bus"));
}

TEST(Diagnosis, DoesNotDependOnWhichSourceCameFirst) {
  Job job = hung_job();
  for (int rank = 0; rank < 16; ++rank) job.join(rank, fmt::format("t-{}", rank / 8), rank % 8, 8);
  job.call(all_but(11, 16), all_gather(9));
  job.xid("node-1", Job::gpu_of(11), 79);
  job.xid("", Job::gpu_of(2), 94);
  const std::vector<Finding> expected = findings_of(job.diagnosis());

  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    // Sources come in any order; the lines of one source keep theirs.
    std::map<std::string, unsigned long> turn;
    for (const auto& [source, batch] : job.applied) turn.try_emplace(source.name, random());
    std::vector<std::pair<Source, Batch>> shuffled = job.applied;
    std::ranges::stable_sort(shuffled, {}, [&](const auto& each) { return turn[each.first.name]; });
    Job again;
    for (const auto& [source, batch] : shuffled) again.state.apply(source, batch, Timestamp{});
    ASSERT_EQ(findings_of(again.diagnosis()), expected) << "round " << round;
  }
}

TEST(Diagnosis, TheSameInputGivesTheSameFindings) {
  auto build = [] {
    Job job = hung_job();
    job.xid("node-1", Job::gpu_of(11), 79);
    job.xid("node-1", Job::gpu_of(11), 45);
    return job.diagnosis();
  };
  EXPECT_EQ(findings_of(build()), findings_of(build()));
}

TEST(RankBehind, MostRanksThatStayInABroadcastAreHeldUpAndMissNothing) {
  const Signature broadcast{.function = "Broadcast", .count = 64, .datatype = 7};
  for (const int done : {2, 12}) {
    SCOPED_TRACE(done);
    Job job;
    job.join_all(16);
    job.call(ranks(0, 16), all_reduce(), 3);
    job.call(ranks(0, 16), broadcast);
    job.call(ranks(0, done), all_reduce());
    const Diagnosis diagnosis = job.diagnosis();
    const bool few = done < 8;
    ASSERT_THAT(causes(diagnosis.root_causes),
                testing::ElementsAre(few ? "collective.stalled" : "collective.rank_behind"));
    EXPECT_EQ(diagnosis.root_causes[0].subject.ranks.empty(), few);
  }
}

// For calls that only move data, some builds of NCCL print the count in elements, others in bytes.
TEST(CollectiveMismatch, WhatOnlyMovesDataIsOneCallIfItMovesAsManyBytes) {
  const Signature in_floats{.function = "Broadcast", .count = 64, .datatype = 7};
  const Signature in_bytes{.function = "Broadcast", .count = 256, .datatype = 0};
  const Signature fewer{.function = "Broadcast", .count = 128, .datatype = 0};
  const auto first = [](const Signature& most, const Signature& odd) {
    Job job;
    job.join_all(16);
    job.call(ranks(0, 8), most);
    job.call(ranks(8, 16), odd);
    job.call(ranks(0, 16), all_reduce(), 3);
    job.call(ranks(1, 16), all_reduce());
    return std::string(name_of(job.diagnosis().root_causes.at(0).cause));
  };
  EXPECT_EQ(first(in_floats, in_bytes), "collective.rank_behind");
  EXPECT_EQ(first(in_bytes, in_floats), "collective.rank_behind");
  EXPECT_EQ(first(in_floats, fewer), "software.collective_mismatch");
  Signature reduced = in_floats;
  Signature reduced_bytes = in_bytes;
  reduced.function = reduced_bytes.function = "AllReduce";
  EXPECT_EQ(first(reduced, reduced_bytes), "software.collective_mismatch");
}

TEST(Diagnosis, ShowsUnreadTroubleOnlyWhereNoCauseIsSure) {
  const auto say_unread = [](Job& job, TroubleKind tells, const std::string& text) {
    job.say(Source{.name = "app.log"}, Speaker{}, UnreadTrouble{.tells = tells, .text = text},
            text);
  };
  Job unclear;
  unclear.join_all(4);
  say_unread(unclear, TroubleKind::fails, "the cache could not be filled");
  say_unread(unclear, TroubleKind::ends, "worker 3 broke");
  const Diagnosis open = unclear.diagnosis();
  ASSERT_EQ(open.unread.size(), 2);
  EXPECT_EQ(open.unread[0].line.text, "worker 3 broke") << "what ended something comes first";
  EXPECT_EQ(open.unread[0].line.source, "app.log");

  Job sure = hung_job();
  say_unread(sure, TroubleKind::ends, "worker 3 broke");
  EXPECT_GE(sure.diagnosis().root_causes.front().confidence, 0.8);
  EXPECT_THAT(sure.diagnosis().unread, IsEmpty());

  Job healthy;
  healthy.join_all(4);
  healthy.call(ranks(0, 4), all_reduce(), 100);
  say_unread(healthy, TroubleKind::ends, "worker 3 broke");
  EXPECT_EQ(healthy.diagnosis().verdict, Verdict::healthy) << "it accuses nobody";
  EXPECT_THAT(healthy.diagnosis().unread, IsEmpty());
}

}  // namespace
}  // namespace faultline
