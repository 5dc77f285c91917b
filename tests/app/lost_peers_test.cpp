// Several ranks say that they lost a peer; the one that does not say so is suspect.
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
  EXPECT_THAT(title_of(diagnosis),
              HasSubstr("Rank 2 does not say that it lost a peer, as 3 others do"));
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

// Of four ranks all but rank 2 say that they lost a peer.
std::vector<std::string> all_but_rank_2() {
  std::vector<std::string> logs;
  for (int rank = 0; rank < 4; ++rank)
    logs.push_back(steps(rank, 4, 5) + (rank == 2 ? "" : nccl_lost(rank) + torch_lost(rank)));
  return logs;
}

TEST(LostPeers, NameNobodyWhereSomethingElseIsKnownOfTheEnd) {
  const auto named = [](const std::vector<std::string>& logs, const std::string& launcher = "") {
    Workshop workshop;
    for (std::size_t rank = 0; rank < logs.size(); ++rank)
      workshop.write(fmt::format("job/rank{}.log", rank), logs[rank]);
    if (!launcher.empty()) workshop.write("job/launcher.log", launcher);
    return ranks_of(diagnosis_of(workshop.folder() / "job"));
  };
  ASSERT_THAT(named(all_but_rank_2()), ElementsAre(2));

  auto two_are_silent = all_but_rank_2();
  two_are_silent[3] = steps(3, 4, 5);
  EXPECT_THAT(named(two_are_silent), IsEmpty());

  auto goes_on = all_but_rank_2();
  goes_on[2] += "2026-03-05 02:47:55,120 INFO trainer [rank 2/4] step 6 loss 2.31\n";
  EXPECT_THAT(named(goes_on), IsEmpty());

  auto says_what_nobody_reads = all_but_rank_2();
  says_what_nobody_reads[2] += "ERROR trainer [rank 2/4] loss diverged, abort\n";
  EXPECT_THAT(named(says_what_nobody_reads), IsEmpty());

  auto raised_a_reason = all_but_rank_2();
  raised_a_reason[2] += raised(2);
  EXPECT_THAT(title_of(of_files(raised_a_reason)), HasSubstr("KeyError"));

  // A SIGTERM from outside before any rank lost a peer explains the end. One that comes later is a
  // consequence.
  const std::string told =
      "W0305 02:47:{}.100000 900 torch/distributed/elastic/multiprocessing/api.py:1012] Sending "
      "process 1002 closing signal SIGTERM\n";
  EXPECT_THAT(named(all_but_rank_2(), fmt::format(fmt::runtime(told), "20")), IsEmpty());
  EXPECT_THAT(named(all_but_rank_2(), fmt::format(fmt::runtime(told), "50")), ElementsAre(2));
  EXPECT_THAT(named(all_but_rank_2(),
                    "2026-03-05T02:47:20 slurmstepd: error: *** STEP 9.0 ON node-0 CANCELLED AT "
                    "2026-03-05T02:47:20 DUE TO TIME LIMIT ***\n"),
              IsEmpty());
  // A scheduler's line may carry the time at which its output ended, not the time of the
  // cancellation.
  EXPECT_THAT(named(all_but_rank_2(),
                    "2026-03-05T02:47:50 slurmstepd: error: *** STEP 9.0 ON node-0 CANCELLED AT "
                    "2026-03-05T02:47:29 DUE TO TIME LIMIT ***\n"),
              IsEmpty());
}

TEST(LostPeers, NameNobodyWhereALineOfLossDoesNotSayWhoseItIs) {
  const std::string all = steps(0, 4, 5) + steps(1, 4, 5) + steps(2, 4, 5) + steps(3, 4, 5);
  const std::string said = torch_lost(0) + torch_lost(1) + torch_lost(3);
  ASSERT_THAT(ranks_of(pasted(all + said)), ElementsAre(2));
  EXPECT_THAT(ranks_of(pasted(all + nccl_lost(2) + said)), IsEmpty());
  std::string unlabelled = gloo_lost(2);
  for (std::size_t at = 0; (at = unlabelled.find("[rank2]: ", at)) != std::string::npos;)
    unlabelled.erase(at, 9);
  EXPECT_THAT(ranks_of(pasted(all + said + unlabelled)), IsEmpty());
}

TEST(LostPeers, NameNobodyByLabelsThatContradictEachOtherOrAreTooManyToFollow) {
  const std::string said = torch_lost(0) + torch_lost(1) + torch_lost(2);
  // Labels of a start with four ranks and of another start with three.
  EXPECT_THAT(
      ranks_of(pasted(steps(3, 4, 5) + steps(0, 3, 5) + steps(1, 3, 5) + steps(2, 3, 5) + said)),
      IsEmpty());
  // More labels than are followed.
  std::string many;
  for (int rank = 0; rank < 65; ++rank) many += steps(rank, 65, 1);
  for (int rank = 0; rank < 64; ++rank) many += torch_lost(rank);
  EXPECT_THAT(ranks_of(pasted(many)), IsEmpty());
}

TEST(LostPeers, SayThatAnEmptyLogIsNone) {
  auto logs = all_but_rank_2();
  Workshop workshop;
  for (std::size_t rank = 0; rank < logs.size(); ++rank)
    workshop.write(fmt::format("job/rank{}.log", rank), rank == 2 ? "" : logs[rank]);
  const Diagnosis diagnosis = diagnosis_of(workshop.folder() / "job");
  EXPECT_THAT(title_of(diagnosis), HasSubstr("Rank 2 has sent no log"));
}

TEST(LostPeers, NameNobodyElseThanTheRankThatALineNames) {
  std::string names_one = torch_lost(0);
  const std::string unnamed = "A call failed possibly";
  names_one.replace(names_one.find(unnamed), unnamed.size(),
                    "Error while communicating with remote rank 3, a call failed possibly");
  const Diagnosis diagnosis = of_files(
      {steps(0, 4, 5) + nccl_lost(0) + names_one, steps(1, 4, 5) + nccl_lost(1) + torch_lost(1),
       steps(2, 4, 5), steps(3, 4, 5) + nccl_lost(3) + torch_lost(3)});
  EXPECT_THAT(ranks_of(diagnosis), testing::Not(ElementsAre(2))) << title_of(diagnosis);
}

TEST(LostPeers, NameNobodyOfAJobOfUnknownSizeWhoseOtherLogIsNotHere) {
  const Diagnosis diagnosis =
      of_files({nccl_lost(0) + torch_lost(0), nccl_lost(1) + torch_lost(1)});
  EXPECT_THAT(ranks_of(diagnosis), IsEmpty()) << title_of(diagnosis);
}

}  // namespace
}  // namespace faultline
