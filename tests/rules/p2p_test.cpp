#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job.h"
#include "rules/knowledge/limits.h"

namespace faultline {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// A pipeline of `stages` ranks: activations go up, gradients come back.
void microbatch(Job& job, int stages) {
  for (int stage = 0; stage + 1 < stages; ++stage) job.exchange(stage, stage + 1);
  for (int stage = stages - 1; stage > 0; --stage) job.exchange(stage, stage - 1);
}

Job pipeline(int stages, int microbatches) {
  Job job;
  job.join_all(stages);
  for (int i = 0; i < microbatches; ++i) microbatch(job, stages);
  return job;
}

// An all-to-all as frameworks make it, of Sends and Recvs; rank `out` takes no part.
void all_to_all(Job& job, int ranks, int out = -1) {
  for (int rank = 0; rank < ranks; ++rank)
    for (int peer = 0; peer < ranks; ++peer) {
      if (rank == out) continue;
      // Sizes differ between pairs, and some pairs exchange nothing.
      const auto size = [](int from, int to) {
        return static_cast<std::uint64_t>((from * 7 + to) % 5 * 100);
      };
      job.call_once(rank, send_to(peer, size(rank, peer)), "world", 7);
      job.call_once(rank, recv_from(peer, size(peer, rank)), "world", 7);
    }
}

TEST(PointToPoint, APipelineInWhichEverySendIsReceivedIsHealthy) {
  Job job = pipeline(4, 5);
  job.call(ranks(0, 4), all_reduce());
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

TEST(PointToPoint, AnUnevenAllToAllThatMatchesIsHealthy) {
  Job job;
  job.join_all(6);
  for (int step = 0; step < 3; ++step) {
    all_to_all(job, 6);
    job.call(ranks(0, 6), all_reduce());
  }
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

TEST(PointToPoint, ACallThatMovesNothingNeedsNoCounterpart) {
  Job job = pipeline(2, 3);
  job.call({0}, send_to(1, 0));
  job.call({0, 1}, all_reduce());
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

TEST(PointToPoint, AStageThatStoppedIsNamedAndNotThoseThatWaitForIt) {
  Job job = pipeline(4, 5);
  job.exchange(0, 1);
  job.call({1}, send_to(2));  // stage 2 never receives it
  job.call({3}, recv_from(2));
  job.call({0}, recv_from(1));
  Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_THAT(finding.subject.ranks, ElementsAre(2));
  EXPECT_EQ(finding.title,
            "Rank 2 on node-0 never called Recv #6 from rank 1 on communicator world; 2 peers wait "
            "for it");
  EXPECT_GE(finding.confidence, 0.75);
  EXPECT_EQ(finding.evidence[0].source, "rank-2.log");
  EXPECT_EQ(finding.evidence[1].text, "rank 1 calls Send(count 8, float32, peer 2)");
}

TEST(PointToPoint, StagesThatWaitForAStoppedOneAreNotBehindInTheCollectiveThatFollows) {
  // Two pipelines of four; data parallel pairs reduce at the end. Rank 2 stops.
  Job job;
  job.join_all(8);
  for (int rank = 0; rank < 8; ++rank) {
    job.join(rank, fmt::format("pipe-{}", rank / 4), rank % 4, 4);
    job.join(rank, fmt::format("data-{}", rank % 4), rank / 4, 2);
  }
  for (int stage = 0; stage < 3; ++stage) {
    job.call({4 + stage}, send_to(stage + 1), 1, "pipe-1");
    job.call({4 + stage + 1}, recv_from(stage), 1, "pipe-1");
  }
  job.exchange(0, 1, 1, "pipe-0");
  job.call({1}, send_to(2), 1, "pipe-0");
  job.call({3}, recv_from(2), 1, "pipe-0");
  for (int rank = 4; rank < 8; ++rank)
    job.call({rank}, all_reduce(), 1, fmt::format("data-{}", rank % 4));
  // Rank 2 holds up only stages 1 and 3; stage 0 goes on.
  job.call({0}, all_reduce(), 1, "data-0");
  Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(2));
  EXPECT_THAT(diagnosis.ranks.behind, ElementsAre(2));
}

TEST(PointToPoint, ARecvThatWasLeftOutIsAMismatchOfThePair) {
  Job job = pipeline(4, 5);
  job.call({1}, send_to(2));
  job.call(ranks(0, 4), all_reduce());
  Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.p2p_mismatch"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_THAT(finding.subject.ranks, ElementsAre(1, 2));
  EXPECT_EQ(finding.title,
            "Rank 2 went on without Recv #6 from rank 1, which called Send 6 times (communicator "
            "world)");
  EXPECT_THAT(finding.evidence, SizeIs(2));
  EXPECT_GE(finding.confidence, 0.8);
}

TEST(PointToPoint, ASendThatWasLeftOutIsAMismatchThoughOnlyAnotherCommunicatorTellsSo) {
  Job job;
  job.join_all(4);
  for (int rank = 0; rank < 4; ++rank)
    job.join(rank, fmt::format("pipe-{}", rank / 2), rank % 2, 2);
  job.exchange(0, 1, 3, "pipe-0");
  job.call({1}, recv_from(0), 1, "pipe-0");
  job.call(ranks(0, 4), all_reduce());
  Diagnosis diagnosis = job.diagnosis();
  ASSERT_FALSE(diagnosis.root_causes.empty());
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_EQ(finding.cause, "software.p2p_mismatch");
  EXPECT_THAT(finding.subject.ranks, ElementsAre(0, 1));
  EXPECT_THAT(finding.title, HasSubstr("made only 3 Sends to rank 1 before"));
  EXPECT_LE(finding.confidence, 0.89);
}

TEST(PointToPoint, ACallLeftOutIsFoundThoughTheNextOneTookItsPlace) {
  Job job = pipeline(3, 2);
  job.call(ranks(0, 3), all_reduce());
  job.call({0},
           send_to(1));  // rank 1 leaves out this Recv, so each later Recv takes an earlier Send
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < 4; ++i) microbatch(job, 3);
    if (step < 2) job.call(ranks(0, 3), all_reduce());
  }
  Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.p2p_mismatch"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(0, 1));
  EXPECT_EQ(diagnosis.root_causes.front().title,
            "Rank 1 made only 10 Recvs from rank 0 before a collective that both entered: at least "
            "one too few (communicator world)");
}

TEST(PointToPoint, WhoTookNoPartInAnAllToAllIsNamedAlone) {
  Job job;
  job.join_all(6);
  all_to_all(job, 6);
  all_to_all(job, 6, 3);
  job.call(ranks(0, 6), all_reduce());
  Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.p2p_mismatch"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(3));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("rank 3 disagrees with"));
}

TEST(PointToPoint, SizesThatDifferAreNamedWithBothSides) {
  Job job = pipeline(2, 5);
  job.call({0}, send_to(1, 4096));
  job.call({1}, recv_from(0, 1024));
  Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.p2p_mismatch"));
  EXPECT_EQ(diagnosis.root_causes.front().title,
            "Rank 0 sent count 4096 float32 (16384 bytes) as Send #6 to rank 1, which receives "
            "count 1024 float32 (4096 bytes) (communicator world)");
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(0, 1));
}

TEST(PointToPoint, TheSameBytesAsAnotherDatatypeAreNoMismatch) {
  Job job = pipeline(2, 2);
  Signature bytes = recv_from(0, 32);
  bytes.datatype = 0;
  job.call({0}, send_to(1, 8));
  job.call({1}, bytes);
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

TEST(PointToPoint, ACircleOfSendsIsNamedAsOne) {
  Job job;
  job.join_all(4);
  job.call(ranks(0, 4), all_reduce());
  for (int rank = 0; rank < 4; ++rank) job.call({rank}, send_to((rank + 1) % 4));
  Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.p2p_mismatch"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("wait for each other"));
  // Once all have received, nothing is left to wait for.
  for (int rank = 0; rank < 4; ++rank) job.call({rank}, recv_from((rank + 3) % 4));
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

TEST(PointToPoint, ACircleThatWaitsForAStoppedRankIsNotAccused) {
  Job job;
  job.join_all(4);
  job.call({0}, send_to(1));
  job.call({1}, send_to(0));
  job.call({1}, recv_from(3));  // 3 stopped, so nothing shows what 0 and 1 would have done
  EXPECT_THAT(job.diagnosis().ranks.behind, ElementsAre(3));
  EXPECT_THAT(causes(job.diagnosis().root_causes), ElementsAre("collective.rank_behind"));
}

constexpr std::uint64_t kLarge = 64U << 20;

Job both_send_first(std::uint64_t count, std::uint64_t op_of_recv) {
  Job job;
  job.join_all(2);
  for (int rank = 0; rank < 2; ++rank) {
    job.call_once(rank, send_to(1 - rank, count), "world", 4);
    job.call_once(rank, recv_from(1 - rank, count), "world", op_of_recv);
  }
  return job;
}

TEST(PointToPoint, BothSendingFirstAsTheirLastCallsMayBeADeadlock) {
  Diagnosis diagnosis = both_send_first(kLarge, 5).diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.p2p_mismatch"));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("call Send before Recv"));
  EXPECT_LE(diagnosis.root_causes.front().confidence, 0.79);
}

TEST(PointToPoint, BothSendingFirstIsFineInAGroupOrWhenBuffersTakeItOrWhenTheyWentOn) {
  EXPECT_EQ(both_send_first(kLarge, 4).diagnosis().verdict, Verdict::healthy);
  EXPECT_EQ(both_send_first(1024, 5).diagnosis().verdict, Verdict::healthy);
  Job went_on = both_send_first(kLarge, 5);
  went_on.call({0, 1}, all_reduce());
  EXPECT_EQ(went_on.diagnosis().verdict, Verdict::healthy);
  Job ended = both_send_first(kLarge, 5);
  for (int rank = 0; rank < 2; ++rank) ended.end(rank, "world", CommunicatorEnding::destroyed);
  EXPECT_EQ(ended.diagnosis().verdict, Verdict::healthy);
}

TEST(PointToPoint, ALogThatIsStillBeingWrittenIsNotAccused) {
  Job job = pipeline(3, 5);
  job.call({0}, send_to(1), 2);
  job.moment.live_sources = {"rank-1.log"};
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

TEST(PointToPoint, LogsCutInMidRunMakeLessSure) {
  Job job = pipeline(6, 5);
  job.call({0}, send_to(1));
  job.call({2}, send_to(3));
  job.call({4}, send_to(5));
  for (const Finding& finding : job.diagnosis().root_causes)
    EXPECT_LT(finding.confidence, limits::least_to_exclude);
}

TEST(PointToPoint, ACommunicatorThatBothLeftInGoodOrderIsOver) {
  Job job = pipeline(2, 5);
  job.call({0}, send_to(1));  // rank 1's last line was lost
  for (int rank = 0; rank < 2; ++rank) job.end(rank, "world", CommunicatorEnding::destroyed);
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

TEST(PointToPoint, ARankWhoseLogBeginsInMidRunIsNotCompared) {
  Job job;
  for (int rank = 0; rank < 3; ++rank) job.join(rank, "world", rank, 4);
  job.exchange(0, 1, 4);
  job.call({2}, send_to(3), 9);
  job.call({3}, recv_from(2), 2);
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
}

TEST(PointToPoint, SendsToOneselfPairWithOnesOwnRecvs) {
  Job job;
  job.join_all(2);
  for (int step = 0; step < 3; ++step) {
    job.exchange(0, 0);
    job.call({0, 1}, all_reduce());
  }
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
  job.call({0}, send_to(0));
  job.call({0, 1}, all_reduce());
  ASSERT_THAT(causes(job.diagnosis().root_causes), ElementsAre("software.p2p_mismatch"));
  EXPECT_THAT(job.diagnosis().root_causes.front().subject.ranks, ElementsAre(0));
}

TEST(PointToPoint, ASendAgainstACollectiveIsAMismatchOfTheTwoRanks) {
  Job job;
  job.join_all(2);
  job.call({0, 1}, all_reduce(), 3);
  job.call({0}, send_to(1));
  job.call({1}, all_reduce());
  Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.p2p_mismatch"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(0, 1));
  EXPECT_THAT(causes(diagnosis.symptoms), ElementsAre("collective.rank_behind"));
}

}  // namespace
}  // namespace faultline
