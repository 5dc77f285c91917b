// Reports from several witnesses, judged together.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "pasted.h"

namespace faultline {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string ras(int ranks) {
  return fmt::format(
      "NCCL version 2.27.3 compiled with CUDA 12.8\n"
      "CUDA runtime version 12080, driver version 12080\n\n"
      "Job summary\n===========\n\n"
      "  Nodes  Processes         GPUs  Processes     GPUs\n"
      "(total)   per node  per process    (total)  (total)\n"
      "      2  {:9}            1  {:9} {:8}\n\n"
      "Communicators... (0.01s)\n=============\n\n"
      "Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n"
      "    #  in group  per comm  per node  per comm  in group\n"
      "    0         1         2  {:8}  {:8}  {:8}   RUNNING      OK\n\n",
      ranks / 2, ranks, ranks, ranks / 2, ranks, ranks);
}

std::string timed_out(int rank) {
  return fmt::format(
      "[rank{0}]:[E305 02:47:10.123456789 ProcessGroupNCCL.cpp:629] [Rank {0}] Watchdog caught "
      "collective operation timeout: WorkNCCL(SeqNum=771, OpType=ALLREDUCE, NumelIn=2048, "
      "NumelOut=2048, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.\n",
      rank);
}

TEST(RasBesideWatchdogs, AllWhoLiveAndTimedOutEnteredTheCallAndNobodyIsBehind) {
  std::string text = ras(6);
  for (int rank = 0; rank < 6; ++rank) text += timed_out(rank);
  const Diagnosis diagnosis = pasted(text);
  EXPECT_EQ(cause_of(diagnosis), "collective.stalled");
  EXPECT_THAT(title_of(diagnosis), HasSubstr("All 6 ranks entered ALLREDUCE 771"));
}

TEST(RasAlone, WithoutAComplaintIsNoHealthAndSaysWhatItTells) {
  const Diagnosis diagnosis = pasted(ras(6));
  EXPECT_EQ(diagnosis.verdict, Verdict::unknown);
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  EXPECT_THAT(diagnosis.summary, HasSubstr("all 6 ranks answered"));
}

// After a process is gone, there may be a time in which no process answers at all.
TEST(RasAlone, OfWhichALaterReportTellsOfNobodyStillHolds) {
  Workshop workshop;
  workshop.write("job/ras.txt",
                 "NCCL version 2.28.9 compiled with CUDA 13.0\n"
                 "CUDA runtime version 13000, driver version 13000\n\n"
                 "Job summary\n===========\n\n"
                 "  Nodes  Processes         GPUs  Processes     GPUs\n"
                 "(total)   per node  per process    (total)  (total)\n"
                 "      1          3            1          3        3\n\n"
                 "Communicators... (0.00s)\n=============\n\n"
                 "No communicator data collected!\n\n"
                 "Errors\n======\n\n"
                 "INCOMPLETE\n"
                 "  Missing communicator data from 1 job process\n"
                 "  Process 3613 on node 10.0.4.7 managing GPU 0\n");
  workshop.write("job/ras.json",
                 "{\n  \"nccl_version\": \"2.28.9\",\n  \"cuda_runtime_version\": 13000,\n"
                 "  \"cuda_driver_version\": 13000,\n  \"timestamp\": \"2026-03-05 02:47:31\",\n"
                 "  \"communicators_count\": 0,\n  \"communicators\": [\n\n  ],\n"
                 "  \"ras\": {\n    \"collection_time_sec\": 0.000,\n    \"timeouts_count\": 0\n"
                 "  }\n}\n");
  const Diagnosis diagnosis = diagnosis_of(workshop.folder() / "job");
  EXPECT_EQ(cause_of(diagnosis), "process.silent");
  EXPECT_THAT(title_of(diagnosis), HasSubstr("Process 3613 on 10.0.4.7"));
}

TEST(RankThatAborted, WaitedAsItsPeersDidThoughItsLinesAreMissing) {
  const Diagnosis diagnosis = pasted(timed_out(1) + timed_out(2) + timed_out(3) +
                                     "node-4.cluster: rank 0 exited with code 134\n");
  for (const Finding& cause : diagnosis.root_causes)
    EXPECT_THAT(std::string(name_of(cause.cause)), Not(HasSubstr("behind"))) << cause.title;
}

TEST(OperatorOfPods, AccusesAPodThatEndedWithAnErrorAndNoneThatEndedWell) {
  const auto told = [](std::string_view code) {
    return pasted(
        fmt::format("LAST SEEN   TYPE     REASON           OBJECT             MESSAGE\n"
                    "5m          Normal   ExitedWithCode   pytorchjob/llama   "
                    "Pod: team.llama-worker-3 exited with code {}\n",
                    code));
  };
  EXPECT_TRUE(told("0").root_causes.empty());
  EXPECT_EQ(told("1").root_causes.size(), 1U);
  EXPECT_EQ(told("137").root_causes.size(), 1U);
}

// nccl-tests on two hosts, together with NCCL's own search for rings.
std::string measured(double busbw, const std::string& gdr) {
  std::string text =
      "# nThread 1 nGpus 1 minBytes 1073741824 maxBytes 1073741824\n"
      "#  Rank  0 Group  0 Pid  501 on  a100-1 device  0 [0x81] NVIDIA A100-PCIE-40GB\n"
      "#  Rank  1 Group  0 Pid  502 on  a100-2 device  0 [0x81] NVIDIA A100-PCIE-40GB\n";
  for (int i = 1; i <= 2; ++i)
    text += fmt::format(
        "a100-{0}:50{0}:61{0} [0] NCCL INFO GPU Direct RDMA {1} for GPU 81000 / HCA 0 (distance "
        "{2})\n"
        "a100-{0}:50{0}:61{0} [0] NCCL INFO Pattern 4, crossNic 0, nChannels 2, bw "
        "12.000000/12.000000, "
        "type LOC/PHB, sameChannels 1\n",
        i, gdr, gdr == "Disabled" ? "6 > 4" : "3 <= 4");
  return text + fmt::format(
                    "#       size         count      type   redop    root     time   algbw   busbw "
                    "#wrong     "
                    "time   algbw   busbw #wrong\n"
                    "  1073741824     268435456     float     sum      -1   139000  {0:6.2f}  "
                    "{0:6.2f}      0   "
                    "139000  {0:6.2f}  {0:6.2f}      0\n"
                    "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : {0:.4f}\n",
                    busbw);
}

TEST(BandwidthTest, FarBelowWhatNcclExpectsOfItsHardwareIsSlow) {
  const Diagnosis diagnosis = pasted(measured(7.5, "Disabled"));
  EXPECT_EQ(diagnosis.verdict, Verdict::slow);
  EXPECT_EQ(cause_of(diagnosis), "performance.bandwidth_low");
  EXPECT_THAT(title_of(diagnosis), HasSubstr("NCCL expects 24 from the hardware"));
  EXPECT_THAT(title_of(diagnosis), HasSubstr("GPUDirect RDMA is off"));
  EXPECT_LT(confidence_of(diagnosis), 0.8);
}

TEST(BandwidthTest, GpuDirectThatIsOnIsNotCalledOff) {
  EXPECT_THAT(title_of(pasted(measured(7.5, "Enabled"))), Not(HasSubstr("GPUDirect")));
}

TEST(BandwidthTest, NearWhatNcclExpectsIsNoFault) {
  EXPECT_THAT(pasted(measured(17.5, "Disabled")).root_causes, IsEmpty());
}

std::string joined(const char* host, int pid, int rank) {
  return fmt::format(
      "{}:{}:{} [1] NCCL INFO comm 0x55aa0 rank {} nranks 8 cudaDev 1 nvmlDev 1 busId 1000 commId "
      "0x77ab01 - Init COMPLETE\n",
      host, pid, pid, rank);
}

std::string torchrun_saw_a_segfault(int pid) {
  return fmt::format(
      "[2026-03-05 02:47:52] torch.distributed.elastic.multiprocessing.api: [ERROR] failed "
      "(exitcode: -11) local_rank: 1 (pid: {}) of binary: /usr/bin/python3\n",
      pid);
}

TEST(PidOfALauncher, IsTheRankThatNcclsLinesHaveUnderIt) {
  const Diagnosis diagnosis = pasted(joined("node-7", 40122, 5) + torchrun_saw_a_segfault(40122));
  EXPECT_EQ(title_of(diagnosis), "Rank 5 on node-7 died of a segmentation fault");
}

TEST(PidOfALauncher, ThatTwoContainersHaveNamesNeitherRank) {
  const Diagnosis diagnosis =
      pasted(joined("pod-a", 122, 5) + joined("pod-b", 122, 6) + torchrun_saw_a_segfault(122));
  EXPECT_EQ(title_of(diagnosis), "Local rank 1 (process 122) died of a segmentation fault");
}

TEST(PidOfALauncher, TiesItsDeathToWhatItsProcessWarnedOf) {
  const Diagnosis diagnosis = pasted(
      "node-7:40122:40122 [1] graph/rings.cc:51 NCCL WARN Error : ring 1 does not contain rank "
      "0\n" +
      torchrun_saw_a_segfault(40122));
  EXPECT_EQ(title_of(diagnosis), "NCCL computed a ring on node-7 that does not close");
  ASSERT_EQ(diagnosis.symptoms.size(), 1U);
  EXPECT_THAT(diagnosis.symptoms.front().title, HasSubstr("process 40122 on node-7"));
}

TEST(TracebacksOfWorkers, ThatInterleaveAreToldApartByTheirPids) {
  std::string text;
  const auto both_say = [&](const char* first, const char* second) {
    text +=
        fmt::format("(RayTrainWorker pid=4242) {}\n(RayTrainWorker pid=4243) {}\n", first, second);
  };
  both_say("Traceback (most recent call last):", "Traceback (most recent call last):");
  both_say("  File \"/srv/a.py\", line 31, in step", "  File \"/srv/b.py\", line 77, in load");
  both_say("    go()", "    read()");
  both_say("ValueError: sample 17 is truncated", "KeyError: 'weights'");
  EXPECT_THAT(title_of(pasted(text)), HasSubstr("sample 17 is truncated (a.py:31 in step"));
}

TEST(TracebacksOfWorkers, MayGoOnWithoutTheLabel) {
  const Diagnosis diagnosis = pasted(
      "(RayTrainWorker pid=4242) Traceback (most recent call last):\n"
      "(RayTrainWorker pid=4242)   File \"/srv/a.py\", line 31, in step\n"
      "    go()\n"
      "ValueError: sample 17 is truncated\n");
  EXPECT_THAT(title_of(diagnosis), HasSubstr("sample 17 is truncated (a.py:31"));
}

TEST(TracebacksOfWorkers, OfWhichRayPrintsTheSharedLinesOnceAreRead) {
  const Diagnosis diagnosis = pasted(
      "(RayTrainWorker pid=4242) Traceback (most recent call last):\n"
      "(RayTrainWorker pid=4242)   File \"/srv/a.py\", line 31, in step\n"
      "(RayTrainWorker pid=4242)     go()\n"
      "(RayTrainWorker pid=4243) ValueError: sample 17 is truncated [repeated 2x across "
      "cluster]\n");
  EXPECT_THAT(title_of(diagnosis), HasSubstr("sample 17 is truncated (a.py:31"));
}

// A rank of a job of 16 that also joins a communicator of four ranks and calls `call` on it.
std::string rank_of_a_quartet(int rank, int rank_in_it, bool split, const char* call) {
  const std::string prefix = fmt::format("node-{0}:{1}:{1} [0] NCCL INFO ", rank, 5000 + rank);
  const auto init = [&](const char* how, const char* pointer, int of, int nranks,
                        const std::string& rest) {
    std::string text;
    for (const char* moment : {"START", "COMPLETE"})
      text += fmt::format(
          "{}{} comm {} rank {} nranks {} cudaDev 0 nvmlDev 0 busId 19000 {} - Init {}\n", prefix,
          how, pointer, of, nranks, rest, moment);
    return text;
  };
  std::string text =
      init("ncclCommInitRankConfig", "0xa000", rank, 16, "commId 0x3c0d147cc538d37b");
  text +=
      split ? init("ncclCommSplit", "0xb000", rank_in_it, 4,
                   fmt::format("parent 0xa000 splitCount 1 color 0 key {}", rank))
            : init("ncclCommInitRankConfig", "0xb000", rank_in_it, 4, "commId 0x6e1d04ef65d7b6e6");
  for (int i = 0; i < 6; ++i)
    text += fmt::format(
        "{}{}: opCount {:x} sendbuff 0x7f01 recvbuff 0x7f02 count 4096 datatype 9 op 0 root 0 comm "
        "0xb000 [nranks=4] stream 0x55\n",
        prefix, call, i);
  return text;
}

TEST(HalfOfASplit, IsNotTheOtherHalfOfACommunicatorThatWasMadeAlone) {
  const Diagnosis diagnosis = pasted(rank_of_a_quartet(5, 1, false, "AllReduce") +
                                     rank_of_a_quartet(7, 3, false, "AllReduce") +
                                     rank_of_a_quartet(0, 0, true, "ReduceScatter") +
                                     rank_of_a_quartet(8, 2, true, "ReduceScatter"));
  for (const Finding& cause : diagnosis.root_causes)
    EXPECT_THAT(std::string(name_of(cause.cause)), Not(HasSubstr("mismatch"))) << cause.title;
}

// --- Parts of a host that the job need not use

TEST(PartOfAHost, LoginThatMayStartNoMoreProcessesStandsBelowAKillForMemory) {
  const Diagnosis diagnosis = pasted(
      "[ 9000.100000] cgroup: fork rejected by pids controller in "
      "/user.slice/user-1001.slice/session-4.scope\n"
      "[ 9020.200000] Out of memory: Killed process 20877 (python3) total-vm:98000000kB, "
      "anon-rss:60000000kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:1000kB oom_score_adj:0\n");
  EXPECT_EQ(cause_of(diagnosis), "host.oom_killed");
  ASSERT_EQ(diagnosis.root_causes.size(), 2U);
  EXPECT_LT(diagnosis.root_causes.back().confidence, 0.5);
}

TEST(PartOfAHost, ArrayThatGoesOnWithoutADiskIsNoCauseAndOneThatFailedMayBe) {
  const auto array = [](const char* level) {
    return fmt::format("[ 9000.100000] md/{}:md6: Disk failure on sdb1, disabling device.\n",
                       level);
  };
  EXPECT_THAT(pasted(array("raid10")).root_causes, testing::IsEmpty());
  const Diagnosis failed = pasted(array("raid0"));
  EXPECT_EQ(cause_of(failed), "host.storage_stall");
  EXPECT_LT(confidence_of(failed), 0.5);
}

// Operators join the kernel log and the ranks' lines in one file.
TEST(KernelLinesBesideWatchdogs, InOneFileAreTheKernelsWordAboutTheGpu) {
  std::string text =
      "Mar  5 02:37:03 gpu-7 kernel: [812345.112233] NVRM: Xid (PCI:0000:5d:00): 79, "
      "pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n";
  for (const int rank : {12, 13}) text += timed_out(rank);
  const Diagnosis diagnosis = pasted(text);
  ASSERT_EQ(cause_of(diagnosis), "gpu.off_bus");
  EXPECT_THAT(diagnosis.root_causes.front().against, IsEmpty());
}

}  // namespace
}  // namespace faultline
