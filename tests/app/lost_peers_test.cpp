// Ranks that say that they lost a peer, and the one that does not.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pasted.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string steps(int rank, int ranks, int last) {
  std::string text;
  for (int step = 0; step <= last; ++step)
    text += fmt::format("2026-03-05 02:47:{:02},120 INFO trainer [rank {}/{}] step {} loss 2.31\n",
                        step, rank, ranks, step);
  return text;
}

std::string nccl_lost(int rank) {
  return fmt::format(
      "[2026-03-05 02:47:30] node-0:{0}:{1} [0] misc/socket.cc:72 NCCL WARN socketProgress: "
      "Connection closed by remote peer \n",
      1000 + rank, 2000 + rank);
}

std::string torch_lost(int rank) {
  return fmt::format(
      "[rank{0}]:[E305 02:47:30.376882773 ProcessGroupNCCL.cpp:612] [Rank {0}] Collective "
      "WorkNCCL(SeqNum=49, OpType=ALLREDUCE, NumelIn=64, NumelOut=64, Timeout(ms)=600000) raised "
      "the following async exception: NCCL error: remote process exited or there was a network "
      "error, NCCL version 2.28.9\n"
      "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting "
      "prematurely.\n"
      "Last error:\n"
      "socketProgress: Connection closed by remote peer \n",
      rank);
}

std::string gloo_lost(int rank) {
  return fmt::format(
      "[rank{0}]: Traceback (most recent call last):\n"
      "[rank{0}]:   File \"train.py\", line 31, in step\n"
      "[rank{0}]:     dist.all_reduce(grad)\n"
      "[rank{0}]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] "
      "Connection closed by peer [127.0.0.1]:51620\n",
      rank);
}

std::string raised(int rank) {
  return fmt::format(
      "[rank{0}]: Traceback (most recent call last):\n"
      "[rank{0}]:   File \"train.py\", line 18, in refresh\n"
      "[rank{0}]:     token = table[name]\n"
      "[rank{0}]: KeyError: 'eos'\n",
      rank);
}

Diagnosis of_files(const std::vector<std::string>& texts) {
  Workshop workshop;
  for (std::size_t rank = 0; rank < texts.size(); ++rank)
    if (!texts[rank].empty()) workshop.write(fmt::format("job/rank{}.log", rank), texts[rank]);
  return diagnosis_of(workshop.folder() / "job");
}

std::vector<int> ranks_of(const Diagnosis& diagnosis) {
  return diagnosis.root_causes.empty() ? std::vector<int>()
                                       : diagnosis.root_causes.front().subject.ranks;
}

TEST(LostPeers, PointAtTheOnlyRankThatDoesNotSayThatItLostOne) {
  const Diagnosis diagnosis = of_files(
      {steps(0, 4, 5) + nccl_lost(0) + torch_lost(0), steps(1, 4, 5) + nccl_lost(1) + torch_lost(1),
       steps(2, 4, 5), steps(3, 4, 5) + nccl_lost(3) + torch_lost(3)});
  EXPECT_EQ(cause_of(diagnosis), "network.peer_lost") << title_of(diagnosis);
  EXPECT_THAT(ranks_of(diagnosis), ElementsAre(2));
  EXPECT_THAT(title_of(diagnosis), HasSubstr("Rank 2 says nothing of an end, and 3 others lost"));
  EXPECT_LT(confidence_of(diagnosis), 0.8);
}

TEST(LostPeers, PointAtTheRankWhoseLogIsTheOneThatWasNotSent) {
  const Diagnosis diagnosis =
      of_files({steps(0, 3, 5) + gloo_lost(0), steps(1, 3, 5) + gloo_lost(1)});
  EXPECT_EQ(cause_of(diagnosis), "network.peer_lost") << title_of(diagnosis);
  EXPECT_THAT(ranks_of(diagnosis), ElementsAre(2));
  EXPECT_THAT(title_of(diagnosis), HasSubstr("Rank 2 has sent no log"));
}

TEST(LostPeers, OfTwoRanksPointAtTheOther) {
  const Diagnosis diagnosis =
      pasted(steps(0, 2, 5) + steps(1, 2, 5) +
             "2026-03-05 02:47:08,133 INFO trainer [rank 1/2] bye\n" + gloo_lost(0));
  EXPECT_EQ(cause_of(diagnosis), "network.peer_lost") << title_of(diagnosis);
  EXPECT_THAT(ranks_of(diagnosis), ElementsAre(1));
}

TEST(LostPeers, NameNobodyWhereTwoRanksSayNothing) {
  const Diagnosis diagnosis =
      of_files({steps(0, 4, 5) + nccl_lost(0) + torch_lost(0),
                steps(1, 4, 5) + nccl_lost(1) + torch_lost(1), steps(2, 4, 5), steps(3, 4, 5)});
  EXPECT_THAT(ranks_of(diagnosis), IsEmpty()) << title_of(diagnosis);
}

TEST(LostPeers, NameNobodyWhereARankLogsToAFileThatMayBeAnybodys) {
  const Diagnosis diagnosis =
      pasted(steps(0, 4, 5) + steps(1, 4, 5) + steps(2, 4, 5) + steps(3, 4, 5) + nccl_lost(0) +
             nccl_lost(1) + nccl_lost(2) + nccl_lost(3) + torch_lost(0) + torch_lost(1));
  EXPECT_THAT(ranks_of(diagnosis), IsEmpty()) << title_of(diagnosis);
}

TEST(LostPeers, FollowFromWhatARankRaised) {
  const Diagnosis diagnosis = of_files({steps(0, 4, 5) + nccl_lost(0) + torch_lost(0),
                                        steps(1, 4, 5) + nccl_lost(1) + torch_lost(1),
                                        steps(2, 4, 5), steps(3, 4, 5) + raised(3)});
  EXPECT_EQ(cause_of(diagnosis), "software.rank_crashed") << title_of(diagnosis);
  EXPECT_THAT(ranks_of(diagnosis), ElementsAre(3));
}

TEST(LostPeers, NameNobodyOfAJobOfUnknownSizeWhoseOtherLogIsNotHere) {
  const Diagnosis diagnosis =
      of_files({nccl_lost(0) + torch_lost(0), nccl_lost(1) + torch_lost(1)});
  EXPECT_THAT(ranks_of(diagnosis), IsEmpty()) << title_of(diagnosis);
}

}  // namespace
}  // namespace faultline
