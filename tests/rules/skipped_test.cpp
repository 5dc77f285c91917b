// Ranks that leave out one of many identical calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// All ranks call on their group and on the world in turn; rank `skips` leaves out the world's call
// of step `at_step`.
Job alternating_job(int skips, int at_step, int steps) {
  Job job;
  job.join_all(16, "world");
  for (int rank = 0; rank < 16; ++rank) job.join(rank, rank < 8 ? "0xa" : "0xb", rank % 8, 8);
  std::vector<Source> sources;
  for (int step = 0; step < steps; ++step)
    for (int rank = 0; rank < 16; ++rank) {
      job.call({rank}, all_reduce(7), 1, rank < 8 ? "0xa" : "0xb");
      if (rank != skips || step != at_step) job.call({rank}, all_reduce(7), 1, "world");
    }
  return job;
}

TEST(Skipped, OneOfManyAlikeIsNamedWithWhatIsLeftOpen) {
  const Diagnosis diagnosis = alternating_job(5, 20, 40).diagnosis();
  ASSERT_FALSE(diagnosis.root_causes.empty());
  const Finding& first = diagnosis.root_causes.front();
  EXPECT_EQ(first.cause, "software.collective_skipped");
  EXPECT_THAT(first.subject.ranks, ElementsAre(5));
  EXPECT_THAT(first.title, HasSubstr("one of several identical calls"));
  EXPECT_EQ(diagnosis.root_causes.size(), 1u);
}

TEST(Skipped, OneOfARunThatADifferentCallEndsIsLeftOpenToo) {
  Job job;
  job.join_all(8);
  for (int rank = 0; rank < 8; ++rank) {
    job.call({rank}, all_gather());
    job.call({rank}, all_reduce(), rank == 3 ? 5 : 6);
    job.call({rank}, all_gather(), 2);
  }
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_FALSE(diagnosis.root_causes.empty());
  const Finding& first = diagnosis.root_causes.front();
  EXPECT_EQ(first.cause, "software.collective_skipped") << first.title;
  EXPECT_THAT(first.subject.ranks, ElementsAre(3));
  EXPECT_THAT(first.title, HasSubstr("or an identical call just before it"));
}

TEST(Skipped, TheLastOneIsNamedWithTheCall) {
  const Diagnosis diagnosis = alternating_job(5, 37, 40).diagnosis();
  ASSERT_FALSE(diagnosis.root_causes.empty());
  EXPECT_EQ(diagnosis.root_causes.front().cause, "software.collective_skipped");
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(5));
}

TEST(Skipped, TwoCallsInTheOtherOrderAreAMismatchAndNoneIsSkipped) {
  Job job;
  job.join_all(8);
  for (int rank = 0; rank < 8; ++rank) {
    job.call({rank}, all_reduce(), 5);
    for (const bool first : {true, false})
      job.call({rank}, first == (rank == 2) ? all_gather(77) : all_reduce(512));
  }
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_FALSE(diagnosis.root_causes.empty());
  const Finding& first = diagnosis.root_causes.front();
  EXPECT_EQ(first.cause, "software.collective_mismatch") << first.title;
  EXPECT_THAT(first.subject.ranks, ElementsAre(2));
  EXPECT_THAT(first.title, HasSubstr("in the other order"));
}

TEST(Skipped, ARankThatStoppedDidNotSkip) {
  Job job = alternating_job(-1, 0, 40);
  for (int rank : all_but(5, 16)) {
    job.call({rank}, all_reduce(7), 1, rank < 8 ? "0xa" : "0xb");
    if (rank >= 8) job.call({rank}, all_reduce(7), 1, "world");
  }
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(diagnosis.root_causes.size(), 1u);
  EXPECT_EQ(diagnosis.root_causes.front().cause, "collective.rank_behind");
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(5));
}

TEST(Skipped, WithOneCommunicatorAloneItIsSaidThatAnyMayBeMissing) {
  Job job;
  job.join_all(8);
  job.call(ranks(0, 8), all_reduce(), 999);
  job.call(all_but(3, 8), all_reduce());
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(diagnosis.root_causes.size(), 1u);
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(3));
  ASSERT_FALSE(diagnosis.root_causes.front().actions.empty());
  EXPECT_THAT(diagnosis.root_causes.front().actions.front().what,
              HasSubstr("cannot show which one"));
}

}  // namespace
}  // namespace faultline
