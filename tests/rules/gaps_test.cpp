// Logs that lost lines, begin late or were cut, so that positions cannot be counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "job.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Two hosts of eight ranks: every step calls on the host's communicator, then on the world's.
// Lines are lost at random.
class LossyJob {
 public:
  LossyJob(double loss, unsigned seed, bool op_counts_move = true)
      : loss_(loss), op_counts_move_(op_counts_move), random_(seed) {
    job.join_all(kRanks, "world");
    for (int rank = 0; rank < kRanks; ++rank) job.join(rank, group_of(rank), rank % 8, 8);
  }

  void step(int number, int stopped = -1) {
    for (int rank = 0; rank < kRanks; ++rank) {
      if (rank == stopped) continue;
      call(rank, group_of(rank), all_reduce(static_cast<std::uint64_t>(number % 3 + 1) * 1000));
      call(rank, group_of(rank), all_gather());
      call(rank, "world", number % 5 == 0 ? all_gather() : all_reduce());
    }
  }

  // The rank makes calls although they cannot finish.
  void go_on(int rank, int times) {
    for (int i = 0; i < times; ++i) {
      call(rank, group_of(rank), all_reduce(77));
      call(rank, "world", all_gather());
    }
  }

  static std::string group_of(int rank) { return rank < 8 ? "group-0" : "group-1"; }
  static constexpr int kRanks = 16;
  Job job;

 private:
  void call(int rank, const std::string& communicator, const Signature& signature) {
    std::uint64_t& count = counts_[{rank, communicator}];
    if (std::uniform_real_distribution<>(0, 1)(random_) >= loss_)
      job.call_once(rank, signature, communicator, count);
    if (op_counts_move_) ++count;
  }

  double loss_;
  bool op_counts_move_;
  std::mt19937 random_;
  std::map<std::pair<int, std::string>, std::uint64_t> counts_;
};

struct Outcome {
  int right = 0;
  int wrong = 0;
  double wrong_confidence = 0;
  double confidence = 0;
};

Outcome outcome(double loss, bool op_counts_move = true) {
  Outcome outcome;
  for (unsigned seed = 0; seed < 10; ++seed) {
    LossyJob lossy(loss, seed, op_counts_move);
    for (int number = 0; number < 60; ++number) lossy.step(number);
    const int stopped = 5;
    lossy.step(60, stopped);
    for (int rank = 0; rank < LossyJob::kRanks; ++rank)
      if (rank != stopped) lossy.go_on(rank, 2 + rank % 3);
    const Diagnosis diagnosis = lossy.job.diagnosis();
    if (diagnosis.root_causes.empty()) continue;
    const Finding& first = diagnosis.root_causes.front();
    if (first.subject.ranks == std::vector<int>{stopped}) {
      ++outcome.right;
      outcome.confidence = std::max(outcome.confidence, first.confidence);
    } else {
      ++outcome.wrong;
      outcome.wrong_confidence = std::max(outcome.wrong_confidence, first.confidence);
    }
  }
  return outcome;
}

TEST(Gaps, TheRightRankIsFirstWithFivePercentOfTheLinesGone) {
  const Outcome whole = outcome(0);
  const Outcome lossy = outcome(0.05);
  EXPECT_EQ(whole.right, 10);
  EXPECT_GE(lossy.right, 9);
  EXPECT_EQ(lossy.wrong, 0);
  EXPECT_LT(lossy.confidence, whole.confidence);
}

TEST(Gaps, TheRightRankIsFirstWithThirtyPercentOfTheLinesGone) {
  const Outcome few = outcome(0.05);
  const Outcome many = outcome(0.30);
  EXPECT_GE(many.right, 9);
  EXPECT_LT(many.wrong_confidence, 0.58);
  EXPECT_LE(many.confidence, few.confidence);
}

// Op counts stand still in NCCL 2.8 and, from 2.27 on, in communicators inside a node.
TEST(Gaps, WhereOpCountsStandStillFewLostLinesStillLeaveTheRightRankFirst) {
  const Outcome lossy = outcome(0.05, false);
  EXPECT_GE(lossy.right, 9);
  EXPECT_EQ(lossy.wrong, 0);
  const Outcome many = outcome(0.3, false);
  EXPECT_EQ(many.wrong, 0);
}

class HealthyJobThatLostLines : public testing::TestWithParam<bool> {};

TEST_P(HealthyJobThatLostLines, AccusesNobody) {
  int accused = 0;
  for (double loss : {0.05, 0.3})
    for (unsigned seed = 0; seed < 20; ++seed) {
      LossyJob lossy(loss, seed, GetParam());
      for (int number = 0; number < 60; ++number) lossy.step(number);
      const Diagnosis diagnosis = lossy.job.diagnosis();
      EXPECT_NE(diagnosis.verdict, Verdict::healthy) << "that much is not known";
      if (diagnosis.root_causes.empty()) continue;
      ++accused;  // a rank lost the last lines of several communicators: rare, and never sure
      EXPECT_LT(diagnosis.root_causes.front().confidence, 0.89) << diagnosis.summary;
    }
  EXPECT_LE(accused, 8);
}

INSTANTIATE_TEST_SUITE_P(OpCountsMove, HealthyJobThatLostLines, testing::Bool());

// Logs that begin in mid-run, each at a different call.
Job late_job(bool op_counts_move) {
  Job job;
  for (int rank = 0; rank < 8; ++rank)
    for (std::uint64_t call = 100 + static_cast<unsigned>(rank); call < 140; ++call)
      job.call_as_stranger(rank, call % 5 == 0 ? all_gather() : all_reduce(), 8,
                           op_counts_move ? call : 0);
  return job;
}

TEST(Gaps, LogsThatBeginInMidRunAreInStepAndNoFinding) {
  for (bool moves : {true, false}) {
    const Diagnosis diagnosis = late_job(moves).diagnosis();
    EXPECT_THAT(diagnosis.root_causes, IsEmpty()) << moves;
  }
}

TEST(Gaps, ARankBehindIsFoundAlsoWhereAllLogsBeginInMidRun) {
  for (bool moves : {true, false}) {
    Job job = late_job(moves);
    for (int rank : all_but(3, 8)) job.call_as_stranger(rank, all_gather(), 8, moves ? 140 : 0);
    const Diagnosis diagnosis = job.diagnosis();
    ASSERT_EQ(diagnosis.root_causes.size(), 1u) << moves;
    EXPECT_EQ(diagnosis.root_causes[0].cause, "collective.rank_behind");
    EXPECT_THAT(diagnosis.root_causes[0].subject.hosts, ElementsAre("node-0"));
    EXPECT_LT(diagnosis.root_causes[0].confidence, 0.97);
  }
}

// One log of all ranks that begins in mid-run. At its end, rank 2 is `behind` calls behind.
Job excerpt(int ranks, std::uint64_t behind, bool op_counts_move = true) {
  Job job;
  const Source all{"j", "train.log", "", -1};
  job.call_as_stranger(0, all_reduce(), ranks, 99);  // shows the size of the communicator
  for (std::uint64_t call = 100; call < 160; ++call)
    for (int rank = 0; rank < ranks; ++rank)
      if (rank != 2 || call + behind < 160)
        job.call_from(all, rank, call % 5 == 0 ? all_gather() : all_reduce(), "stranger",
                      op_counts_move ? call : 0);
  return job;
}

TEST(Gaps, ARankAFewCallsBehindWhereAnExcerptIsCutIsNoHang) {
  for (const int ranks : {4, 8})
    for (const std::uint64_t behind : {1, 2, 4}) {
      const Diagnosis diagnosis = excerpt(ranks, behind).diagnosis();
      EXPECT_THAT(diagnosis.root_causes, IsEmpty()) << behind << ": " << diagnosis.summary;
      EXPECT_NE(diagnosis.verdict, Verdict::hang) << behind;
    }
}

TEST(Gaps, ARankFarBehindInAnExcerptIsAHang) {
  const Diagnosis diagnosis = excerpt(4, 30).diagnosis();
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
}

// Excerpts of the logs of two hosts' ranks. Those of the ranks in `early` end early.
Job excerpts_of_two_hosts(const std::vector<int>& early) {
  Job job;
  constexpr std::uint64_t kGroup = 0x2000;
  for (int rank = 0; rank < 16; ++rank) {
    const bool ends_early = std::ranges::find(early, rank) != early.end();
    for (std::uint64_t call = 100; call < (ends_early ? 130U : 160U); ++call)
      job.call_on(rank, kGroup + static_cast<std::uint64_t>(rank / 8), 8,
                  call % 5 == 0 ? all_gather() : all_reduce(), call);
  }
  return job;
}

TEST(Gaps, RanksFarBehindHereAndThereInExcerptsAreNoHang) {
  EXPECT_THAT(causes(excerpts_of_two_hosts({8}).diagnosis().root_causes),
              ElementsAre("collective.rank_behind"));
  const Diagnosis diagnosis = excerpts_of_two_hosts({0, 8}).diagnosis();
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  EXPECT_EQ(diagnosis.verdict, Verdict::unknown);
}

TEST(Gaps, AnExcerptThatGoesOnLongAfterARanksLastCallIsAHang) {
  Job job;
  const Source all{"j", "train.log", "", -1};
  job.clock = EventTime::at(Timestamp{std::chrono::hours{500'000}});
  job.call_as_stranger(0, all_reduce(), 4, 99);
  const auto call = [&](int rank, std::uint64_t number) {
    job.call_from(all, rank, number % 5 == 0 ? all_gather() : all_reduce(), "stranger", number);
  };
  for (std::uint64_t number = 100; number < 160; ++number)
    for (int rank = 0; rank < 4; ++rank)
      if (rank != 2 || number < 159) call(rank, number);
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
  *job.clock.wall_us += 60'000'000;
  call(0, 160);
  EXPECT_THAT(causes(job.diagnosis().root_causes), ElementsAre("collective.rank_behind"));
}

TEST(Gaps, OneLogThatBeginsLateIsPlacedAmongWholeOnes) {
  Job job;
  for (int rank : all_but(6, 8)) job.join(rank, "world", rank, 8);
  for (std::uint64_t call = 0; call < 120; ++call)
    for (int rank = 0; rank < 8; ++rank)
      if (rank != 6 || call > 60)
        job.call_once(rank, call % 7 == 0 ? all_gather() : all_reduce(), "world", call);
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
}

TEST(Gaps, ALineLostLongAgoIsNoSkippedCall) {
  Job job;
  job.join_all(8);
  for (std::uint64_t call = 0; call < 200; ++call)
    for (int rank = 0; rank < 8; ++rank)
      if (rank != 4 || call != 50)
        job.call_once(rank, call % 7 == 0 ? all_gather() : all_reduce(), "world", call);
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
}

TEST(Gaps, OpCountsThatMoveDifferentlyOnHealthyRanksPlaceNobody) {
  // From 2.27 on, only ranks whose NIC takes part count a launch. All logs begin late.
  Job job;
  for (std::uint64_t call = 100; call < 200; ++call)
    for (int rank = 0; rank < 8; ++rank)
      job.call_as_stranger(rank, call % 5 == 0 ? all_gather() : all_reduce(), 8,
                           rank % 4 == 0   ? call * 2
                           : rank % 2 == 0 ? call / 2
                                           : 0);
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
}

TEST(Gaps, ReplayedCudaGraphsAreRecognisedAndNoLoss) {
  // A graph is captured once and replayed a thousand times. Up to 2.26 a replay advances the op
  // count and prints nothing.
  Job job;
  job.join_all(8);
  for (std::uint64_t call : {0, 1, 2, 3, 1003, 1004})
    for (int rank = 0; rank < 8; ++rank) job.call_once(rank, all_reduce(), "world", call);
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  const auto check =
      std::ranges::find(diagnosis.checklist, "every call has its line", &Check::check);
  ASSERT_NE(check, diagnosis.checklist.end());
  EXPECT_EQ(check->status, CheckStatus::unknown);
  EXPECT_THAT(check->detail, testing::HasSubstr("CUDA graphs"));
}

TEST(Gaps, TheNextPartOfARotatedLogGoesOnWhereOpCountsStandStill) {
  Job job;
  job.join_all(4);
  auto call_from = [&](int rank, const std::string& file, int times) {
    for (int i = 0; i < times; ++i)
      job.call_from({"j", file, "", -1}, rank, all_reduce(), "world", 0);
  };
  for (int rank = 0; rank < 4; ++rank) {
    call_from(rank, Job::source_of(rank).name, rank == 2 ? 100 : 60);
    if (rank != 2) call_from(rank, Job::source_of(rank).name + ".next", 40);
  }
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy) << job.diagnosis().summary;
}

}  // namespace
}  // namespace faultline
