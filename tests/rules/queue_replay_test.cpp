// Ranks go on queueing calls while they wait, some more and some less: which rank stopped, and
// which rank only queued less.
#include "rules/picture/calls/queue_replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Sixteen ranks on two hosts: a communicator for each host, and one of all ranks.
Job two_groups() {
  Job job;
  job.join_all(16);
  for (int rank = 0; rank < 16; ++rank) job.join(rank, fmt::format("t-{}", rank / 8), rank % 8, 8);
  for (int rank = 0; rank < 16; ++rank) {
    job.call({rank}, all_reduce(), 3, fmt::format("t-{}", rank / 8));
    job.call({rank}, all_gather(), 1);
  }
  return job;
}

// The rank waits in the next call of the world and has queued `more` calls after it.
void queue(Job& job, int rank, int more) {
  job.call({rank}, all_gather(), 1);
  job.call({rank}, all_reduce(), more, fmt::format("t-{}", rank / 8));
}

TEST(QueueReplay, WhoStoppedIsNamedHoweverManyCallsTheOthersQueued) {
  Job job = two_groups();
  for (int rank = 0; rank < 16; ++rank)
    if (rank != 11) queue(job, rank, 4 + rank % 3);
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(diagnosis.root_causes.size(), 1U);
  EXPECT_EQ(diagnosis.root_causes.front().cause, "collective.rank_behind");
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(11));
  EXPECT_GE(diagnosis.root_causes.front().confidence, 0.9);
}

TEST(QueueReplay, ACallThatDoesNotEndAccusesNobodyWhoQueuedLess) {
  Job job = two_groups();
  for (int rank = 0; rank < 16; ++rank) queue(job, rank, 4 + rank * 7 % 4);
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
  ASSERT_EQ(diagnosis.root_causes.size(), 1U);
  EXPECT_EQ(diagnosis.root_causes.front().cause, "collective.stalled");
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, IsEmpty());
  std::vector<std::string> asked;
  for (const MissingEvidence& missing : diagnosis.missing_evidence) asked.push_back(missing.what);
  EXPECT_THAT(asked,
              ElementsAre("kernel log of every host", "port counters, read twice, of every host",
                          "MTU of the interfaces of every host",
                          testing::StartsWith("stack of every rank")));
}

// In a group of two nothing shows which rank is wrong; the other groups do.
TEST(CollectiveMismatch, GroupsOfTheSameKindTellWhichOfTwoIsOdd) {
  Job job;
  job.join_all(8);
  for (int rank = 0; rank < 8; ++rank) job.join(rank, fmt::format("t-{}", rank / 2), rank % 2, 2);
  for (int rank = 0; rank < 8; ++rank) {
    const std::string group = fmt::format("t-{}", rank / 2);
    job.call({rank}, all_reduce(), 3, group);
    job.call({rank}, all_reduce(rank == 5 ? 512 : 1024), 1, group);
  }
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_FALSE(diagnosis.root_causes.empty());
  EXPECT_EQ(diagnosis.root_causes.front().cause, "software.collective_mismatch");
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(5));
}

TEST(CollectiveMismatch, AnotherReductionHangsNobodyAndMakesResultsWrong) {
  Job job;
  job.join_all(8);
  Signature maximum = all_reduce();
  maximum.operation = 2;
  for (int rank = 0; rank < 8; ++rank) {
    job.call({rank}, all_reduce(), 3);
    job.call({rank}, rank == 5 ? maximum : all_reduce(), 1);
    job.call({rank}, all_reduce(), 3);
  }
  EXPECT_EQ(job.diagnosis().verdict, Verdict::corrupt);
}

}  // namespace
}  // namespace faultline
