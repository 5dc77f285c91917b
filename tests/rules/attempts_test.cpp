#include "rules/state/attempts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job.h"

namespace faultline {
namespace {

using testing::IsEmpty;

// In attempt 1 all other ranks wait for rank 5.
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
  // Training and inference take turns on the same GPUs, so their lines interleave.
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

// One process after another on one GPU; `ids` are their process ids.
Attempts restarted(const std::vector<int>& ids, bool dated = false) {
  Job job;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EventTime time;
    if (dated) time.wall_us = 1'000'000'000 + static_cast<std::int64_t>(i) * 60'000'000;
    // One log for all processes, or one for each.
    const Source source{"j", dated ? fmt::format("{}.log", i) : "train.log", "node-0", -1};
    job.say(source, {.host = "node-0", .pid = ids[i]},
            CommunicatorInit{.communicator = 0x10,
                             .nranks = 2,
                             .cuda_device = 0,
                             .gpu = Job::gpu_of(0),
                             .complete = true},
            "Init COMPLETE", time);
  }
  return attempts_of(job.state.progress());
}

TEST(Attempts, AreAsManyAsThereWereProcessesOnOneGpu) {
  constexpr int kMany = 2000;
  std::vector<int> rising;
  for (int i = 0; i < kMany; ++i) rising.push_back(100 + i);
  // Process ids wrap around.
  std::vector<int> anew = rising;
  std::ranges::rotate(anew, anew.begin() + kMany / 3);
  std::vector<int> falling(rising.rbegin(), rising.rend());
  for (const auto& ids : {rising, anew, falling})
    for (const bool dated : {false, true}) {
      const Attempts attempts = restarted(ids, dated);
      EXPECT_EQ(attempts.count, kMany);
      for (int i = 0; i < kMany; ++i)
        ASSERT_EQ(attempts.of_member[static_cast<std::size_t>(i)], i + 1) << ids[0] << dated;
    }
}

TEST(Attempts, OfARowLongerThanAStackIsDeepAreCounted) {
  std::vector<int> ids;
  for (int i = 0; i < 60'000; ++i) ids.push_back(i + 1);
  EXPECT_EQ(restarted(ids).count, 60'000);
}

}  // namespace
}  // namespace faultline
