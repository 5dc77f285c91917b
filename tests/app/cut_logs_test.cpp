// Logs that were cut, and kernel logs without a time: what they leave open is not told as known.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "pasted.h"

namespace faultline {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kRanks = 4;

std::string rank_line(int rank, const std::string& text) {
  return fmt::format("node-{}:{}:{} [{}] NCCL INFO {}\n", rank / 2, 1000 + rank, 1300 + rank,
                     rank % 2, text);
}

std::string joining(int rank) {
  const std::string comm = fmt::format(
      "ncclCommInitRank comm 0x55000{}000 rank {} nranks {} cudaDev {} nvmlDev {} busId {} commId "
      "0x9f3c51a07e22d001 - Init ",
      rank, rank, kRanks, rank % 2, rank % 2, rank % 2 == 0 ? "18000" : "2a000");
  return rank_line(rank, comm + "START") + rank_line(rank, comm + "COMPLETE");
}

std::string calling(int rank, int call) {
  return rank_line(
      rank, fmt::format("{}: opCount {:x} sendbuff 0x7f0 recvbuff 0x7f0 count {} datatype 7 op 0 "
                        "root 0 comm 0x55000{}000 [nranks={}] stream 0x5500",
                        call % 3 == 0 ? "AllGather" : "AllReduce", call, 1024 * (1 + call % 3),
                        rank, kRanks));
}

// One log of all ranks, from the start. Rank 2 makes only so many calls.
std::string merged(int calls, int calls_of_rank_2) {
  std::string text;
  for (int rank = 0; rank < kRanks; ++rank) text += joining(rank);
  for (int call = 0; call < calls; ++call)
    for (int rank = 0; rank < kRanks; ++rank)
      if (rank != 2 || call < calls_of_rank_2) text += calling(rank, call);
  return text;
}

std::string watchdog(int rank, int sequence) {
  return fmt::format(
      "[rank{0}]:[E305 02:47:29.610144615 ProcessGroupNCCL.cpp:632] [Rank {0}] Watchdog caught "
      "collective operation timeout: WorkNCCL(SeqNum={1}, OpType=ALLREDUCE, NumelIn=1024, "
      "NumelOut=1024, Timeout(ms)=600000) ran for 600051 milliseconds before timing out.\n",
      rank, sequence);
}

Diagnosis of_files(const std::vector<std::pair<std::string, std::string>>& files) {
  Workshop workshop;
  for (const auto& [name, text] : files) workshop.write("job/" + name, text);
  return diagnosis_of(workshop.folder() / "job");
}

TEST(CutLogs, OfAllRanksTogetherAccuseNobodyWhereverTheyAreCut) {
  const std::string whole = merged(12, 12);
  std::size_t cuts = 0;
  for (std::size_t at = whole.find(": opCount 0 "); at < whole.size(); at += 61, ++cuts) {
    const Diagnosis diagnosis = pasted(whole.substr(0, at));
    EXPECT_LT(confidence_of(diagnosis), 0.5) << at << title_of(diagnosis);
    EXPECT_NE(diagnosis.verdict, Verdict::hang) << at;
  }
  EXPECT_GT(cuts, 50U);
}

TEST(CutLogs, ThatGoOnWithoutARankNameIt) {
  const Diagnosis diagnosis = pasted(merged(12, 9));
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
  EXPECT_EQ(cause_of(diagnosis), "collective.rank_behind");
  EXPECT_GE(confidence_of(diagnosis), 0.9);
  EXPECT_THAT(title_of(diagnosis), HasSubstr("Rank 2 on node-1"));
}

TEST(CutLogs, ThatEndBeforeACallInWhichTheOthersTimedOutBlameNobodyForThat) {
  std::string first;
  std::string second;
  for (int rank = 0; rank < kRanks; ++rank) {
    std::string& log = rank < 2 ? first : second;
    log += joining(rank);
    for (int call = 0; call < (rank < 2 ? 12 : 4); ++call) log += calling(rank, call);
  }
  for (int rank = 0; rank < 2; ++rank) first += watchdog(rank, 12);
  const Diagnosis diagnosis = of_files({{"node-0.log", first}, {"node-1.log", second}});
  EXPECT_NE(cause_of(diagnosis), "collective.rank_behind") << title_of(diagnosis);
}

TEST(CutLogs, ARankWhoseCallIsLoggedIsNotTheOneThatNeverCame) {
  std::string text = merged(12, 12);
  for (const int rank : {0, 1, 3}) text += watchdog(rank, 12);
  const Diagnosis diagnosis = pasted(text);
  EXPECT_NE(cause_of(diagnosis), "collective.rank_behind") << title_of(diagnosis);
}

constexpr const char* kMistake =
    "[rank1]: Traceback (most recent call last):\n"
    "[rank1]:   File \"/app/train.py\", line 287, in train\n"
    "[rank1]:     mask = batch[\"attention_mask\"]\n"
    "[rank1]: KeyError: 'attention_mask'\n";

constexpr const char* kUndatedXid =
    "node-0 kernel: [  812.100000] NVRM: Xid (PCI:0000:2a:00): 79, pid=1234, name=python3, GPU has "
    "fallen off the bus.\n";

TEST(UndatedFaults, OfTheGpuDoNotExplainAMistakeInTheCode) {
  const Diagnosis diagnosis =
      of_files({{"train.log", merged(9, 9) + kMistake}, {"kern.log", kUndatedXid}});
  EXPECT_THAT(title_of(diagnosis), HasSubstr("KeyError"));
  for (const Finding& finding : diagnosis.root_causes)
    if (finding.cause == Cause::gpu_off_bus) {
      EXPECT_LE(finding.confidence, 0.58);
    }
}

TEST(UndatedFaults, OfTheGpuExplainARankThatOthersWaitFor) {
  std::string text = merged(9, 9);
  for (int call = 9; call < 13; ++call)
    for (const int rank : {0, 2, 3}) text += calling(rank, call);
  const Diagnosis diagnosis = of_files({{"train.log", text}, {"kern.log", kUndatedXid}});
  EXPECT_EQ(cause_of(diagnosis), "gpu.off_bus");
}

TEST(UndatedFaults, DoNotFailAJobThatSaysThatItIsComplete) {
  const std::string text = merged(9, 9) + "Training complete. Saving final checkpoint.\n";
  const Diagnosis diagnosis = of_files({{"train.log", text}, {"kern.log", kUndatedXid}});
  EXPECT_NE(diagnosis.verdict, Verdict::failed) << title_of(diagnosis);
}

TEST(SharedEnds, TheBridgeOfDockerIsNoEndThatConnectionsHaveInCommon) {
  const std::string text =
      "misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 172.17.0.1<39275> failed : "
      "Software caused connection abort\n";
  const Diagnosis once = of_files({{"a.log", text}});
  const Diagnosis twice = of_files({{"a.log", text}, {"b.log", text}});
  EXPECT_EQ(cause_of(twice), "launch.connect_failed");
  EXPECT_LE(confidence_of(twice), confidence_of(once) + 0.01);
}

}  // namespace
}  // namespace faultline
