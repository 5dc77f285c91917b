#include "rules/state/attempts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job.h"

namespace faultline {
namespace {

using testing::IsEmpty;

// Attempt 1 hangs for rank 5.
Job hung_once() {
  Job job;
  job.join_all(16, "0x1");
  job.call(ranks(0, 16), all_reduce(), 50, "0x1");
  job.call(all_but(5, 16), all_reduce(), 1, "0x1");
  return job;
}

TEST(Attempts, TheLatestCountsAndTheEarlierStayAskable) {
  Job job = hung_once();
  job.restart();
  job.join_all(16, "0x2");
  job.call(ranks(0, 16), all_reduce(), 80, "0x2");

  const Diagnosis latest = job.diagnosis();
  EXPECT_EQ(latest.attempt, 2);
  EXPECT_EQ(latest.verdict, Verdict::healthy) << latest.summary;
  EXPECT_THAT(latest.root_causes, IsEmpty());
  EXPECT_EQ(latest.ranks.seen, 16);
  const Diagnosis first = job.diagnosis(1);
  EXPECT_EQ(first.attempts, 2);
  ASSERT_FALSE(first.root_causes.empty());
  EXPECT_THAT(first.root_causes.front().subject.ranks, testing::ElementsAre(5));
}

TEST(Attempts, AreToldApartWhereNoCommIdIsPrinted) {
  Job job;
  job.print_no_ids = true;
  job.join_all(16, "first");
  job.call(ranks(0, 16), all_reduce(), 50, "first");
  job.call(all_but(5, 16), all_reduce(), 1, "first");
  job.restart();
  job.join_all(16, "second");
  job.call(ranks(0, 16), all_reduce(), 80, "second");
  const Diagnosis latest = job.diagnosis();
  EXPECT_EQ(latest.attempt, 2);
  EXPECT_EQ(latest.verdict, Verdict::healthy) << latest.summary;
}

TEST(Attempts, ALaterOneThatHangsNamesItsOwnRank) {
  Job job = hung_once();
  job.restart();
  job.join_all(16, "0x2");
  job.call(ranks(0, 16), all_reduce(), 80, "0x2");
  job.call(all_but(9, 16), all_reduce(), 1, "0x2");
  const Diagnosis latest = job.diagnosis();
  ASSERT_EQ(latest.root_causes.size(), 1u);
  EXPECT_THAT(latest.root_causes.front().subject.ranks, testing::ElementsAre(9));
}

TEST(Attempts, ProcessesThatShareAGpuAtOneTimeAreOfOneAttempt) {
  // Training and inference on the same GPUs, taking turns: their lines interleave.
  Job job;
  job.join_all(8, "0x1");
  job.call(ranks(0, 8), all_reduce(), 5, "0x1");
  job.restart();
  for (int rank = 0; rank < 8; ++rank) job.join(rank, rank < 4 ? "0x2" : "0x3", rank % 4, 4);
  job.call(ranks(0, 4), all_reduce(), 5, "0x2");
  job.back_to(0);
  job.call(ranks(0, 8), all_reduce(), 5, "0x1");
  EXPECT_EQ(attempts_of(job.state.progress()).count, 1);
}

}  // namespace
}  // namespace faultline
