// Exceptions of ranks that waited for others: who did not come is named; and ends that a launcher
// and a kernel tell of one process.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "pasted.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::string table(int first, int pid, int code, const std::string& others = "") {
  return fmt::format(
      "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
      "============================================================\n"
      "train.py FAILED\n"
      "------------------------------------------------------------\n"
      "Failures:\n"
      "{}"
      "------------------------------------------------------------\n"
      "Root Cause (first observed failure):\n"
      "[0]:\n"
      "  time      : 2026-03-05_02:47:20\n"
      "  host      : localhost\n"
      "  rank      : {} (local_rank: {})\n"
      "  exitcode  : {} (pid: {})\n"
      "  error_file: <N/A>\n"
      "  traceback : To enable traceback see: "
      "https://pytorch.org/docs/stable/elastic/errors.html\n"
      "============================================================\n",
      others.empty() ? "  <NO_OTHER_FAILURES>\n" : others, first, first, code, pid);
}

std::string gloo_waited(int rank, const std::string& what = "recv") {
  return fmt::format(
      "[rank{0}]: Traceback (most recent call last):\n"
      "[rank{0}]:   File \"train.py\", line 31, in step\n"
      "[rank{0}]:     dist.all_reduce(grad)\n"
      "[rank{0}]: RuntimeError: "
      "[/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] "
      "Timed out waiting 60000ms for {1} operation to complete\n",
      rank, what);
}

TEST(WaitsInGloo, NameTheRankThatDidNotCome) {
  const Diagnosis diagnosis = pasted(gloo_waited(0) + gloo_waited(2, "send") + gloo_waited(3) +
                                     "W0305 02:47:19.1 2400 torch/distributed/elastic/"
                                     "multiprocessing/api.py:1012] Sending process 2001 closing "
                                     "signal SIGTERM\n" +
                                     table(0, 2000, 1));
  EXPECT_EQ(cause_of(diagnosis), "collective.rank_behind") << title_of(diagnosis);
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(1));
  EXPECT_LT(confidence_of(diagnosis), 0.8);
}

TEST(WaitsInGloo, NameNobodyWhereHalfOfTheRanksSayNothing) {
  const Diagnosis diagnosis = pasted(gloo_waited(0) + gloo_waited(3) + table(0, 2000, 1));
  EXPECT_NE(cause_of(diagnosis), "collective.rank_behind") << title_of(diagnosis);
}

TEST(WaitsInGloo, NameNobodyWhereWhoIsLeftSaysThatItsPeerHasGone) {
  const Diagnosis diagnosis =
      pasted(gloo_waited(0) + gloo_waited(2) + gloo_waited(3) +
             "[rank1]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] "
             "Connection "
             "closed by peer [10.0.0.5]:51620\n" +
             table(0, 2000, 1));
  EXPECT_NE(cause_of(diagnosis), "collective.rank_behind") << title_of(diagnosis);
}

TEST(WaitForACommunicator, NamesTheRankThatWasToBeginIt) {
  const auto waited = [](const std::string& error) {
    return "[rank1]: torch.distributed.DistBackendError: [1] is setting up NCCL communicator and "
           "retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but "
           "store->get('0') got error: " +
           error + "\n";
  };
  const Diagnosis late =
      pasted(waited("wait timeout after 600000ms, keys: /default_pg/0//cuda//0"));
  EXPECT_EQ(cause_of(late), "launch.rank_missing") << title_of(late);
  EXPECT_THAT(late.root_causes.front().subject.ranks, ElementsAre(0));
  // The store itself has gone: that tells nothing of rank 0.
  const Diagnosis gone = pasted(waited("Connection reset by peer"));
  EXPECT_NE(cause_of(gone), "launch.rank_missing") << title_of(gone);
}

// Two that do not know of each other tell of one number.
TEST(KillForMemory, IsOfTheRankWhoseProcessItsLauncherSawKilledThoughNoLineNamesTheHost) {
  const std::string kernel =
      "[  202.671088] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=job,"
      "mems_allowed=0,oom_memcg=/job,task_memcg=/job,task=python,pid=2635,uid=0\n"
      "[  202.671113] Memory cgroup out of memory: Killed process 2635 (python) "
      "total-vm:20684436kB, anon-rss:4448880kB, file-rss:292044kB, shmem-rss:0kB, UID:0 "
      "pgtables:10420kB oom_score_adj:0\n";
  const auto together = [&](int pid) {
    Workshop workshop;
    workshop.write("job/train.log", table(1, pid, -9));
    workshop.write("job/dmesg.txt", kernel);
    return diagnosis_of(workshop.folder() / "job");
  };
  const Diagnosis same = together(2635);
  EXPECT_EQ(cause_of(same), "host.oom_killed") << title_of(same);
  EXPECT_THAT(same.root_causes.front().subject.ranks, ElementsAre(1));
  EXPECT_GE(confidence_of(same), 0.9);
  const Diagnosis other = together(2636);
  EXPECT_NE(cause_of(other), "host.oom_killed") << title_of(other);
}

// Every launcher sums up; that is no reason to hold the rank for one that only followed.
TEST(ExitCode, BelowALaunchersSummaryIsTheRanksOwn) {
  const Diagnosis diagnosis = pasted(table(2, 4120, 1));
  EXPECT_EQ(cause_of(diagnosis), "software.rank_crashed") << title_of(diagnosis);
  EXPECT_THAT(title_of(diagnosis), StartsWith("Rank 2 ended with exit code 1"));
}

TEST(Launcher, ThatWasSignalledFromOutsideEndedTheJob) {
  const Diagnosis diagnosis = pasted(
      "W0305 02:47:10.444000 2165 torch/distributed/elastic/agent/server/api.py:739] Received 15 "
      "death signal, shutting down workers\n"
      "W0305 02:47:10.446000 2165 torch/distributed/elastic/multiprocessing/api.py:1012] Sending "
      "process 2227 closing signal SIGTERM\n"
      "torch.distributed.elastic.multiprocessing.api.SignalException: Process 2165 got signal: "
      "15\n");
  EXPECT_EQ(cause_of(diagnosis), "process.aborted") << title_of(diagnosis);
}

// What NCCL does after it was taken down may fail at the network, too; a start it is not.
TEST(FailedConnection, OfWhoHasWorkedTogetherIsNoStartThatFailed) {
  const std::string begin =
      "node-1:100:100 [0] NCCL INFO ncclCommInitRank comm 0x10 rank 0 nranks 2 cudaDev 0 nvmlDev 0 "
      "busId 3b000 commId 0xfa - Init COMPLETE\n";
  const std::string call =
      "node-1:100:100 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x7f00 recvbuff 0x7f00 count 64 "
      "datatype 7 op 0 root 0 comm 0x10 [nranks=2] stream 0x55\n";
  const std::string failed =
      "node-1:100:160 [0] misc/socket.cc:596 NCCL WARN socketStartConnect: connect to "
      "10.0.0.12<35761> failed : Network is unreachable\n";
  const Diagnosis at_work = pasted(begin + call + failed);
  EXPECT_EQ(cause_of(at_work), "network.transport_error") << title_of(at_work);
  const Diagnosis at_start = pasted(failed);
  EXPECT_EQ(cause_of(at_start), "launch.connect_failed") << title_of(at_start);
}

}  // namespace
}  // namespace faultline
