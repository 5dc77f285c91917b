// What a diagnosis says besides its findings.
#include "rules/answer/incident.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job.h"
#include "seconds.h"

namespace faultline {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// Rank 11, on node-1, never enters the last call; a test adds what its kernel says.
Job hung_job(int hosts = 2) {
  Job job;
  const int size = 8 * hosts;
  job.clock = at(0);
  job.join_all(size);
  job.clock = at(100);
  job.call(ranks(0, size), all_reduce(), 100);
  job.clock = at(200);
  job.call(all_but(11, size), all_reduce());
  return job;
}

const Check& check(const Diagnosis& diagnosis, std::string_view name) {
  static const Check none;
  for (const Check& one : diagnosis.checklist)
    if (one.check == name) return one;
  ADD_FAILURE() << "no check " << name;
  return none;
}

TEST(Coverage, TellsOfEveryHostWhatWasReadAndOverWhatSpan) {
  Job job = hung_job();
  job.kernel("node-0", "eth0: link up", at(50));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(diagnosis.coverage, SizeIs(2));
  const HostCoverage& first = diagnosis.coverage[0];
  EXPECT_EQ(first.host, "node-0");
  EXPECT_EQ(first.ranks, ranks(0, 8));
  EXPECT_THAT(first.lines, Contains(testing::Key("kernel")));
  EXPECT_EQ(first.from, at(0).wall());
  EXPECT_EQ(first.to, at(200).wall());
  EXPECT_THAT(diagnosis.coverage[1].lines, Not(Contains(testing::Key("kernel"))));
}

TEST(Exclusion, NamesTheHostOfABrokenPartInTheWordsOfTheScheduler) {
  Job job = hung_job();
  job.xid("node-1", Job::gpu_of(11), 79, at(150));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(diagnosis.root_causes.front().cause, "gpu.off_bus");
  EXPECT_EQ(diagnosis.root_causes.front().remedy, "exclude_node");
  EXPECT_THAT(diagnosis.exclude.hosts, ElementsAre("node-1"));
  EXPECT_EQ(diagnosis.exclude.slurm, "--exclude=node-1");
  EXPECT_EQ(diagnosis.exclude.kubernetes, "kubectl cordon node-1");
}

TEST(Exclusion, ANameOfAHostIsOneWordOfTheShell) {
  Job job = hung_job();
  job.xid("node-1", Job::gpu_of(11), 79, at(150));
  std::vector<Finding> causes = job.diagnosis().root_causes;
  ASSERT_FALSE(causes.empty());
  causes.resize(1);
  causes.front().subject.hosts = {"node-1;reboot"};
  const Exclusion exclusion = exclusion_of(load_catalog(), causes);
  EXPECT_EQ(exclusion.kubernetes, "kubectl cordon 'node-1;reboot'");
  EXPECT_EQ(exclusion.slurm, "--exclude='node-1;reboot'");
}

TEST(NextTime, ANameOfAJobStaysWithinItsUrl) {
  Job job("train\"; reboot");
  job.join_all(16);
  EXPECT_THAT(job.diagnosis().next_time,
              Contains(Field(&NextTime::set, HasSubstr("job=train%22%3B%20reboot&"))));
}

TEST(Exclusion, AsksNobodyToGiveUpAHostForWhatTheCodeDid) {
  Job job;
  job.join_all(16);
  job.call(ranks(0, 16), all_reduce(), 100);
  job.call({5}, all_reduce(77));
  job.call(all_but(5, 16), all_reduce());
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(diagnosis.root_causes.front().cause, "software.collective_mismatch");
  EXPECT_EQ(diagnosis.root_causes.front().remedy, "fix_code");
  EXPECT_THAT(diagnosis.exclude.hosts, IsEmpty());
  EXPECT_EQ(diagnosis.exclude.slurm, "");
}

TEST(NextTime, AsksForNothingWhereTheCauseIsCertain) {
  Job job = hung_job();
  EXPECT_THAT(job.diagnosis().next_time, Not(IsEmpty()));
  job.xid("node-1", Job::gpu_of(11), 79, at(150));
  EXPECT_THAT(job.diagnosis().next_time, IsEmpty());
}

TEST(NextTime, AsksForCallsOnlyWhereNoneWereLogged) {
  Job job;
  job.join_all(16);
  job.kernel("node-0", "eth0: link up", at(50));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::unknown);
  EXPECT_THAT(diagnosis.summary, HasSubstr("missing: NCCL log of every rank, with its calls"));
  EXPECT_THAT(diagnosis.next_time, Contains(Field(&NextTime::set, HasSubstr("COLL"))));
  EXPECT_THAT(hung_job().diagnosis().next_time,
              Not(Contains(Field(&NextTime::set, HasSubstr("COLL")))));
}

TEST(ClockOffsets, AreReadOffTheMomentThatRanksShare) {
  Job job;
  for (int rank = 0; rank < 32; ++rank) {
    job.clock = at(rank / 8 == 1 ? 300 : rank % 3);  // node-1's clock is five minutes ahead
    job.join(rank, "world", rank, 32);
  }
  job.clock = at(100);
  job.call(ranks(0, 32), all_reduce(), 10);
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(diagnosis.clock_offsets, SizeIs(1));
  EXPECT_EQ(diagnosis.clock_offsets[0].host, "node-1");
  EXPECT_NEAR(diagnosis.clock_offsets[0].seconds, 299, 2);
}

TEST(ClockOffsets, OfTwoClocksNothingTellsWhichIsWrong) {
  Job job;
  for (int rank = 0; rank < 16; ++rank) {
    job.clock = at(rank / 8 == 1 ? 300 : 0);
    job.join(rank, "world", rank, 16);
  }
  EXPECT_THAT(job.diagnosis().clock_offsets, IsEmpty());
}

TEST(Timeline, IsInOrderOfTheCorrectedTimes) {
  Job job;
  for (int rank = 0; rank < 32; ++rank) {
    job.clock = at(rank / 8 == 1 ? 300 : 0);
    job.join(rank, "world", rank, 32);
  }
  job.clock = at(100);
  job.call(ranks(0, 32), all_reduce(), 100);
  job.call(all_but(11, 32), all_reduce());
  job.xid("node-1", Job::gpu_of(11), 79, at(420));  // at 120 by the other clocks
  job.xid("node-2", Job::gpu_of(17), 45, at(200));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_GE(diagnosis.timeline.size(), 2U);
  std::optional<Timestamp> before;
  for (const TimelineEntry& entry : diagnosis.timeline) {
    if (before && entry.time) {
      EXPECT_LE(*before, *entry.time);
    }
    if (entry.time) before = entry.time;
    if (entry.what.find("Xid 79") != std::string::npos) {
      EXPECT_EQ(entry.time, at(120).wall());
    }
  }
  EXPECT_EQ(diagnosis.root_causes.front().cause, "gpu.off_bus");
}

TEST(Checklist, AnswersEveryQuestionOfTheTutorials) {
  const Diagnosis diagnosis = hung_job().diagnosis();
  for (const char* question :
       {"all ranks joined", "all ranks alive", "rendezvous port reachable", "ranks in step",
        "last operation", "every call has its line", "every rank makes each call",
        "calls agree in function, count and type", "GPUs free of errors in kernel logs",
        "InfiniBand ports of the job's hosts", "GPU memory (ECC)", "MTU equal", "shm",
        "expected bandwidth", "algorithm selected"}) {
    const Check& answer = check(diagnosis, question);
    EXPECT_FALSE(answer.detail.empty()) << question;
    if (answer.status == CheckStatus::unknown) {
      EXPECT_FALSE(answer.command.empty()) << question;
    }
  }
  EXPECT_EQ(check(diagnosis, "last operation").status, CheckStatus::fail);
  EXPECT_THAT(check(diagnosis, "last operation").detail, HasSubstr("15 of 16"));
  EXPECT_EQ(check(diagnosis, "calls agree in function, count and type").status, CheckStatus::pass);
}

TEST(CounterEvidence, ARankThatWentOnSpeaksAgainstADeadGpu) {
  Job job;
  job.clock = at(0);
  job.join_all(16);
  job.clock = at(100);
  job.call(ranks(0, 16), all_reduce(), 50);
  job.xid("node-1", Job::gpu_of(11), 79, at(110));
  job.clock = at(900);
  job.call(ranks(0, 16), all_reduce(), 50);
  job.clock = at(1000);
  job.call(all_but(11, 16), all_reduce());
  const Diagnosis diagnosis = job.diagnosis();
  for (const Finding& finding : findings_of(diagnosis)) {
    if (finding.cause != "gpu.off_bus" || !finding.part_of_job) continue;
    EXPECT_THAT(finding.against, Contains(HasSubstr("rank 11 still made calls")));
  }
}

TEST(CounterEvidence, IsEmptyWhereNothingSpeaksAgainst) {
  Job job = hung_job();
  job.xid("node-1", Job::gpu_of(11), 79, at(250));
  EXPECT_THAT(job.diagnosis().root_causes.front().against, IsEmpty());
}

}  // namespace
}  // namespace faultline
