// Exceptions of ranks that waited for others: the rank that did not come is named. And ends of one
// process that both a launcher and a kernel report.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "pasted.h"
#include "simulated_diagnosis.h"
#include "workshop.h"

namespace faultline {
namespace {

using testing::AnyOf;
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

TEST(WaitsInGloo, NameNobodyWhereALineWithoutALabelSaysTheSame) {
  std::string unlabelled = gloo_waited(1);
  for (std::size_t at = 0; (at = unlabelled.find("[rank1]: ", at)) != std::string::npos;)
    unlabelled.erase(at, 9);
  const Diagnosis diagnosis =
      pasted(gloo_waited(0) + unlabelled + gloo_waited(2) + gloo_waited(3) + table(0, 2000, 1));
  EXPECT_NE(cause_of(diagnosis), "collective.rank_behind") << title_of(diagnosis);
}

TEST(WaitsInGloo, NameNobodyWhereTheTrainingWentOn) {
  std::string steps;
  for (int step = 1; step < 40; ++step) steps += fmt::format("step {} loss 2.31 time 0.1s\n", step);
  const Diagnosis diagnosis = pasted(gloo_waited(0) + gloo_waited(2) + gloo_waited(3) +
                                     "[rank1]: Warning: a variable is deprecated\n" + steps);
  EXPECT_NE(cause_of(diagnosis), "collective.rank_behind") << title_of(diagnosis);
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

std::string waited_for_id(int rank, int place, const std::string& key, const std::string& error) {
  return fmt::format(
      "[rank{0}]: Traceback (most recent call last):\n"
      "[rank{0}]:   File \"train.py\", line 3, in <module>\n"
      "[rank{0}]: torch.distributed.DistBackendError: [{1}] is setting up NCCL communicator and "
      "retrieving ncclUniqueId from [0] via c10d key-value store by key '{2}', but "
      "store->get('{2}') got error: {3}\n",
      rank, place, key, error);
}

TEST(WaitForACommunicator, NamesTheRankThatWasToBeginIt) {
  const std::string late = "wait timeout after 600000ms, keys: ";
  const Diagnosis named = pasted(waited_for_id(1, 1, "0", late + "/default_pg/0//cuda//0"));
  EXPECT_EQ(cause_of(named), "launch.rank_missing") << title_of(named);
  EXPECT_THAT(named.root_causes.front().subject.ranks, ElementsAre(0));
  // The store itself is gone; a place in another group; one rank of a pair. None of these is about
  // rank 0.
  for (const std::string& other : {waited_for_id(1, 1, "0", "Connection reset by peer"),
                                   waited_for_id(5, 1, "0", late + "/3/0//cuda//0"),
                                   waited_for_id(5, 1, "0", late + "/default_pg/0//cuda//0"),
                                   waited_for_id(4, 4, "3:4", late + "/default_pg/0//cuda//3:4"),
                                   waited_for_id(0, 1, "1:0", late + "/default_pg/0//cuda//1:0")})
    EXPECT_NE(cause_of(pasted(other)), "launch.rank_missing") << other;
}

std::string waits_at_barrier(const std::vector<int>& ranks, int joined, int wanted) {
  std::string lines;
  for (int round = 0; round < 2; ++round)
    for (const int rank : ranks)
      lines += fmt::format(
          "INFO:torch.distributed.distributed_c10d:Waiting in store based barrier to initialize "
          "process group for rank: {}, key: store_based_barrier_key:1 (world_size={}, "
          "worker_count={}, timeout=0:30:00)\n",
          rank, wanted, joined);
  return lines;
}

TEST(WaitAtTheStoresBarrier, NamesTheOneRankThatIsMissing) {
  const Diagnosis named = pasted(waits_at_barrier({0, 3, 1}, 3, 4));
  EXPECT_EQ(cause_of(named), "launch.rank_missing") << title_of(named);
  EXPECT_THAT(named.root_causes.front().subject.ranks, ElementsAre(2));
  EXPECT_LT(confidence_of(named), 0.8);
}

TEST(WaitAtTheStoresBarrier, NamesNobodyIfSomebodyWhoCameDoesNotSayIt) {
  for (const std::string& log : {waits_at_barrier({0, 3}, 3, 4), waits_at_barrier({0}, 1, 2),
                                 waits_at_barrier({0, 1}, 2, 8)})
    EXPECT_NE(cause_of(pasted(log)), "launch.rank_missing") << log;
}

TEST(WaitAtTheStoresBarrier, IsOverOnceARankHasPassedIt) {
  const Diagnosis passed =
      pasted(waits_at_barrier({0, 3, 1}, 3, 4) +
             "INFO:torch.distributed.distributed_c10d:Rank 3: Completed store-based barrier for "
             "key:store_based_barrier_key:1 with 4 nodes.\n");
  EXPECT_NE(cause_of(passed), "launch.rank_missing") << title_of(passed);
}

std::string keeper(int joined, int wanted) {
  return fmt::format(
      "[rank0]: Traceback (most recent call last):\n"
      "[rank0]:   File \"train.py\", line 8, in <module>\n"
      "[rank0]: torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. "
      "{}/{} clients joined.\n",
      joined, wanted);
}

// Rank 0 hosts the store and waits there itself.
TEST(WaitForACommunicator, IsForTheOneThatIsMissingWhereRankZeroSaysThatSomebodyIs) {
  const std::string late = "wait timeout after 600000ms, keys: /default_pg/0//cuda//0";
  const std::string waiting = waited_for_id(1, 1, "0", late) + waited_for_id(3, 3, "0", late);
  const Diagnosis named = pasted(waiting + keeper(3, 4));
  ASSERT_FALSE(named.root_causes.empty());
  for (const Finding& cause : named.root_causes)
    EXPECT_THAT(cause.subject.ranks, AnyOf(ElementsAre(2), IsEmpty())) << cause.title;
  EXPECT_EQ(cause_of(named), "launch.rank_missing") << title_of(named);

  // The exception of rank 2 says why it did not come.
  const Diagnosis crashed = pasted(
      waiting + keeper(3, 4) +
      "[rank2]: Traceback (most recent call last):\n"
      "[rank2]:   File \"train.py\", line 5, in <module>\n"
      "[rank2]: FileNotFoundError: [Errno 2] No such file or directory: '/data/list.json'\n");
  EXPECT_EQ(cause_of(crashed), "software.rank_crashed") << title_of(crashed);
  EXPECT_THAT(crashed.root_causes.front().subject.ranks, ElementsAre(2));
  EXPECT_GT(crashed.root_causes.front().confidence, 0.8);

  // In another start all ranks came together.
  const Diagnosis trained = pasted(waiting + keeper(3, 4) +
                                   "[rank0] step 10 loss 2.31\n"
                                   "[rank0] step 20 loss 2.11\n");
  for (const Finding& cause : trained.root_causes)
    EXPECT_THAT(cause.subject.ranks, IsEmpty()) << cause.title;

  // Several ranks may be missing, or the counts are of another start: no rank is named.
  for (const std::string& keeps : {keeper(3, 8), keeper(2, 4), keeper(4, 5), keeper(1, 2)}) {
    const Diagnosis open = pasted(waiting + keeps);
    for (const Finding& cause : open.root_causes)
      EXPECT_THAT(cause.subject.ranks, IsEmpty()) << keeps << cause.title;
  }
}

TEST(WaitInGloo, IsForTheRankWhoseFileIsThereAndSaysNothing) {
  Workshop workshop;
  for (const int rank : {0, 2, 3})
    workshop.write(fmt::format("job/rank{}.log", rank), gloo_waited(rank));
  workshop.write("job/rank1.log", "2026-03-05 02:47:10 [rank1] step 20 loss 1.02\n");
  const Diagnosis diagnosis = diagnosis_of(workshop.folder() / "job");
  EXPECT_EQ(cause_of(diagnosis), "collective.rank_behind") << title_of(diagnosis);
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(1));
}

// Ranks that give up waiting end, and close their connections.
TEST(GivenUpWaiting, AConnectionThatClosesAfterwardsIsNoCause) {
  const auto timed_out = [](int rank) {
    return fmt::format(
        "[rank{0}]:[E305 02:47:43.5 ProcessGroupNCCL.cpp:689] [Rank {0}] Watchdog caught "
        "collective "
        "operation timeout: WorkNCCL(SeqNum=47, OpType=ALLREDUCE, NumelIn=4096, NumelOut=4096, "
        "Timeout(ms)=15000) ran for 15082 milliseconds before timing out.\n",
        rank);
  };
  const auto closed = [](const char* at) {
    return fmt::format(
        "[2026-03-05 02:{}] gpu-7:3200:3349 [0] misc/socket.cc:72 NCCL WARN socketProgress: "
        "Connection closed by remote peer gpu-8<52004>\n",
        at);
  };
  const auto job = [&](const char* at) {
    Workshop workshop;
    workshop.write("job/rank0.log", timed_out(0) + closed(at));
    workshop.write("job/rank2.log", timed_out(2));
    workshop.write("job/rank3.log", timed_out(3));
    workshop.write("job/rank1.log", "2026-03-05 02:47:28 [rank1] step 20 loss 1.0053\n");
    return diagnosis_of(workshop.folder() / "job");
  };
  EXPECT_EQ(cause_of(job("48:14")), "collective.rank_behind") << title_of(job("48:14"));
  EXPECT_EQ(cause_of(job("47:27")), "network.peer_lost") << title_of(job("47:27"));
  // The connection closed much later: the job went on, or this is another start.
  const Diagnosis later = [&] {
    Workshop workshop;
    workshop.write("job/rank0.log", timed_out(0) +
                                        "[2026-03-05 03:24:14] gpu-7:3200:3349 [0] "
                                        "misc/socket.cc:72 NCCL WARN socketProgress: "
                                        "Connection closed by remote peer gpu-8<52004>\n");
    return diagnosis_of(workshop.folder() / "job");
  }();
  EXPECT_TRUE(std::ranges::any_of(later.root_causes, [](const Finding& cause) {
    return cause.cause == Cause::network_peer_lost;
  })) << title_of(later);
}

// The address shows whose interface it is, although no line names the host.
TEST(AnInterfaceThatIsDown, IsTheJobsWhereARankUsesItsAddress) {
  const auto rank_log = [](int rank) {
    const std::string at = fmt::format("gpu-{0}:1{0}:1{0} [0] NCCL INFO ", rank);
    return at + fmt::format("Bootstrap: Using eth0:10.0.4.{}<0>\n", rank + 1) + at +
           fmt::format(
               "ncclCommInitRankConfig comm 0x55b{0} rank {0} nranks 2 cudaDev 0 nvmlDev 0 "
               "busId 17000 commId 0x54fe - Init START\n",
               rank) +
           at +
           fmt::format(
               "ncclCommInitRankConfig comm 0x55b{0} rank {0} nranks 2 cudaDev 0 nvmlDev 0 "
               "busId 17000 commId 0x54fe - Init COMPLETE\n",
               rank) +
           fmt::format(
               "[rank{0}]:[E305 02:47:43.5 ProcessGroupNCCL.cpp:689] [Rank {0}] Watchdog "
               "caught collective operation timeout: WorkNCCL(SeqNum=47, OpType=ALLREDUCE, "
               "NumelIn=4096, NumelOut=4096, Timeout(ms)=15000) ran for 15082 milliseconds "
               "before timing out.\n",
               rank);
  };
  const auto diagnosed = [&](const char* state, const char* flags, const char* address) {
    Workshop workshop;
    for (const int rank : {0, 1})
      workshop.write(fmt::format("job/rank{}.log", rank), rank_log(rank));
    workshop.write("job/ip.txt",
                   fmt::format("7: eth0: <{}> mtu 9000 qdisc mq state {} group default\n"
                               "    link/ether d6:1c:da:9f:5e:93 brd ff:ff:ff:ff:ff:ff\n"
                               "    inet {}/24 scope global eth0\n",
                               flags, state, address));
    return diagnosis_of(workshop.folder() / "job");
  };
  const Diagnosis down = diagnosed("DOWN", "NO-CARRIER,BROADCAST,MULTICAST,UP", "10.0.4.2");
  EXPECT_EQ(cause_of(down), "network.link_down") << title_of(down);
  EXPECT_THAT(down.root_causes.front().subject.ranks, ElementsAre(1));
  EXPECT_NE(cause_of(diagnosed("UP", "BROADCAST,MULTICAST,UP,LOWER_UP", "10.0.4.2")),
            "network.link_down");
  EXPECT_NE(cause_of(diagnosed("DOWN", "NO-CARRIER,BROADCAST,MULTICAST,UP", "10.0.9.2")),
            "network.link_down");
}

// The launcher and the kernel, which do not know of each other, name the same pid.
TEST(KillForMemory, IsOfTheRankWhoseProcessItsLauncherSawKilledThoughNoLineNamesTheHost) {
  const std::string kernel =
      "[  202.671088] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=job,"
      "mems_allowed=0,oom_memcg=/job,task_memcg=/job,task=python,pid=2635,uid=0\n"
      "[  202.671113] Memory cgroup out of memory: Killed process 2635 (python) "
      "total-vm:20684436kB, anon-rss:4448880kB, file-rss:292044kB, shmem-rss:0kB, UID:0 "
      "pgtables:10420kB oom_score_adj:0\n";
  const auto together = [&](int pid, int code, const std::string& log,
                            const std::string& another = "") {
    Workshop workshop;
    workshop.write("job/train.log", table(1, pid, code));
    workshop.write("job/dmesg.txt", log);
    if (!another.empty()) workshop.write("job/other/dmesg.txt", another);
    return diagnosis_of(workshop.folder() / "job");
  };
  const Diagnosis same = together(2635, -9, kernel);
  EXPECT_EQ(cause_of(same), "host.oom_killed") << title_of(same);
  EXPECT_THAT(same.root_causes.front().subject.ranks, ElementsAre(1));
  EXPECT_GE(confidence_of(same), 0.8);
  const std::string long_before =
      "2026-01-01T10:00:00,000000+00:00 Memory cgroup out of memory: Killed process 2635 (python) "
      "total-vm:20684436kB, anon-rss:4448880kB, file-rss:292044kB, shmem-rss:0kB, UID:0\n";
  const std::string other_event =
      "[  202.6] INFO: task java:2635 blocked for more than 120 seconds.\n";
  // Another pid; another signal; another time; another event; two kernels that name the pid.
  for (const Diagnosis& other :
       {together(2636, -9, kernel), together(2635, -6, kernel), together(2635, -9, long_before),
        together(2635, -9, other_event), together(2635, -9, kernel, kernel)}) {
    EXPECT_THAT(cause_of(other), Not(StartsWith("host."))) << title_of(other);
  }
}

// Every launcher prints a summary; that does not mean that the rank only followed another one.
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

// NCCL may also fail at the network after its communicator was torn down; that is not a failed
// start.
TEST(FailedConnection, OfWhoHasTrainedTogetherIsNoStartThatFailed) {
  const std::string begin =
      "node-1:100:100 [0] NCCL INFO ncclCommInitRank comm 0x10 rank 0 nranks 2 cudaDev 0 nvmlDev 0 "
      "busId 3b000 commId 0xfa - Init COMPLETE\n";
  const std::string step = "step 40 loss 2.31 time 0.12s\n";
  const std::string failed =
      "node-1:100:160 [0] misc/socket.cc:596 NCCL WARN socketStartConnect: connect to "
      "10.0.0.12<35761> failed : Network is unreachable\n";
  const Diagnosis at_work = pasted(begin + step + failed);
  EXPECT_EQ(cause_of(at_work), "network.transport_error") << title_of(at_work);
  for (const std::string& at_start : {failed, begin + failed, step + begin + failed})
    EXPECT_EQ(cause_of(pasted(at_start)), "launch.connect_failed") << at_start;
}

}  // namespace
}  // namespace faultline
