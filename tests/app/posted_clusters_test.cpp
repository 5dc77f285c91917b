// What hosts, schedulers, engines and tools print when something is wrong, pasted alone: the
// diagnosis gives its class and names the part. The same texts, changed as viewers, terminals and
// people change them, get the same answer or a less sure one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pasted.h"

namespace faultline {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

struct Case {
  const char* why;
  const char* cause;
  const char* names;  // a part of the title
  std::string text;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"Lustre's network", "host.storage_stall", "10.0.4.7@o2ib",
       "[81234.100000] LNet: 3181:0:(o2iblnd_cb.c:3181:kiblnd_check_conns()) Timed out tx for "
       "10.0.4.7@o2ib: 4295 seconds\n"},
      {"pieces that Lustre's client has no room for, and what follows", "host.storage_stall",
       "has room for 4128768",
       "[81234.100000] LNetError: 3181:0:(lib-ptl.c:189:lnet_try_match_md()) Matching packet from "
       "12345-10.0.4.7@o2ib, match 1719922013456704 length 4194304 too big: 4128768 left, 4128768 "
       "allowed\n"
       "[81437.300000] Lustre: scratch-OST0003-osc-ffff9d6153c91000: Connection to "
       "scratch-OST0003 (at 10.0.4.7@o2ib) was lost; in progress operations using this service "
       "will wait for recovery to complete\n"},
      {"an adapter of Gaudi that cannot be used, seen while its host starts", "gpu.hang", "hl2",
       "[   72.990000] habanalabs hl2: Failed to communicate with Device CPU (CPU-CP timeout)\n"},
      {"an adapter of AWS that is reset again and again", "network.nic_failure", "ens5",
       "[86492.700000] ena 0000:00:05.0 ens5: Keep alive watchdog timeout.\n"
       "[86492.800000] ena 0000:00:05.0 ens5: Trigger reset is on\n"},
      {"a stall of a CPU in the first minutes", "host.cpu_hang", "",
       "[  287.000000] INFO: rcu_sched self-detected stall on CPU\n"},
      {"a kernel that crashed in the first minutes", "host.down", "NULL pointer",
       "[  201.600000] BUG: unable to handle kernel NULL pointer dereference at (null)\n"
       "[  201.700000] Oops: 0002 [#1] SMP\n"},
      {"packets longer than a bridge takes", "network.mtu_mismatch", "1500",
       "[2065279.400000] br-gpu: dropped over-mtu packet: 1658 > 1500\n"},
      {"a PCIe device that the platform cut off", "pcie.error", "EEH",
       "[  402.000000] EEH: Frozen PE#fd on PHB#1 detected\n"},
      {"sectors that cannot be read", "host.storage_stall", "ata3",
       "[  222.900000] ata3.00: failed command: READ FPDMA QUEUED\n"
       "[  223.000000] ata3.00: error: { UNC }\n"},
      {"the kernel's own words of memory, cut before whom it killed", "host.oom_killed", "python",
       "[261.200000] python invoked oom-killer: gfp_mask=0x14000c0(GFP_KERNEL), nodemask=(null), "
       "order=0, oom_score_adj=829\n"},
      {"firmware that tells of a DIMM", "host.memory_error", "DIMM 5",
       "[ 1261.200000] {1}[Hardware Error]: event severity: recoverable\n"
       "[ 1261.300000] {1}[Hardware Error]: section_type: memory error\n"
       "[ 1261.400000] {1}[Hardware Error]: DIMM location: CPU 1 DIMM 5\n"},
      {"LSF's memory limit", "host.oom_killed", "LSF",
       "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\n"
       "Exited with exit code 143.\n"},
      {"PBS' node", "host.down", "PBS", "PBS Job Id: 2600365.head\njob preempted (node failure)\n"},
      {"a management controller's log", "host.down", "Processor #0xc9",
       "  88 | 08/31/2026 | 02:58:51 | System Firmware Progress #0x05 | System boot initiated | "
       "Asserted\n"
       "  89 | 08/31/2026 | 06:20:30 | Processor #0xc9 | IERR | Asserted\n"},
      {"a management controller that counts in hexadecimal", "host.memory_error",
       "controller of its host logged failed memory: Memory #0xeb",
       " 12a | 08/31/2026 | 06:20:30 | Memory #0xeb | Transition to Non-recoverable | Asserted\n"},
      {"DCGM's health watch", "gpu.thermal", "GPU 2",
       "ERROR [1514002:1514004] [[Health]] Detected a WARNING in health system Thermal: 'Detected "
       "clocks event due to thermal violation in GPU 2. Verify that the cooling on this machine is "
       "functional.\n"},
      {"an engine without room for its cache", "software.cuda_oom", "21.80 GiB",
       "ERROR 03-05 02:47:10 [core.py:708] EngineCore failed to start.\n"
       "ValueError: To serve at least one request with the models's max seq len (262144), (21.80 "
       "GiB KV cache is needed, which is larger than the available KV cache memory (8.72 GiB).\n"},
      {"Ray without enough GPUs", "launch.rank_missing", "Ray",
       "WARNING 03-05 02:47:10 [ray_utils.py:342] The number of required GPUs exceeds the total "
       "number of available GPUs in the placement group.\n"},
      {"a test of RDMA without an answer", "network.transport_error", "status 12",
       "  local address:  LID 0x0013, QPN 0x000063, PSN 0x566748, GID ::\n"
       "Failed status transport retry counter exceeded (12) for wr_id 2\n"},
      {"torchfrtrace of a rank that never came", "collective.rank_behind", "Rank 1",
       "Not all ranks joining collective, sequence number: 5\n"
       "group info: 0:default_pg\ncollective: nccl:all_reduce\nmissing ranks: {1}\n"
       "expected ranks: {0, 1, 2, 3}\ncollective state: scheduled\n"},
      {"a link between GPUs that is down, whose GPU's number was left out", "gpu.nvlink_error",
       "Link 3",
       "GPU 3: Tesla V100-SXM2-32GB (UUID: ...)\n         Link 0: 25.781 GB/s\n"
       "         Link 1: 25.781 GB/s\n         Link 2: 25.781 GB/s\n         Link 3: <inactive>\n"
       "         Link 4: 25.781 GB/s\n"},
      {"a daemon of mpirun's that was lost", "network.peer_lost", "gpu-7",
       "PRTE has lost communication with a remote daemon.\n\n"
       "  HNP daemon   : [prterun-gpu-1-4711@0,0] on node gpu-1\n"
       "  Remote daemon: [prterun-gpu-1-4711@0,3] on node gpu-7\n"},
      {"torchfrtrace's columns of ranks", "collective.rank_behind", "Rank 2",
       "Rank 0                               Rank 2\n"
       "-----------------------------------  -----------------------------------\n"
       "all_reduce(input_sizes=[[64]], s=1)  all_reduce(input_sizes=[[64]], s=1)\n"
       "broadcast(input_sizes=[[8]], s=1)\n"},
      {"a back-trace of a process that aborted", "software.rank_crashed", "open_nic",
       "#0  __pthread_kill_implementation (no_tid=0, signo=6) at ./nptl/pthread_kill.c:44\n"
       "#1  0x00007fffefc288ff in __GI_abort () at ./stdlib/abort.c:79\n"
       "#2  0x00007fffe850ac74 in open_nic (fd=49) at /opt/rdma/nic.c:2631\n"
       "#3  0x00007ffff0476245 in ncclCommInitRankFunc (job_=0x555556c24180) at init.cc:1407\n"},
      {"a port that drops most of what arrives", "network.congestion", "60 % of rx_packets_phy",
       "NIC statistics:\n     rx_packets: 333854100\n     rx_packets_phy: 97052087562\n"
       "     rx_discards_phy: 58591428329\n     tx_discards_phy: 0\n"},
      {"a module that receives no light", "network.link_down", "rx power low alarm",
       "Identifier                                : 0x03 (SFP)\n"
       "Receiver signal average optical power     : 0.0001 mW / -40.00 dBm\n"
       "Laser rx power high alarm                 : Off\n"
       "Laser rx power low alarm                  : On\n"
       "Laser rx power low alarm threshold        : 0.0010 mW / -30.00 dBm\n"},
      {"a disk that does not answer in a host's first minutes", "host.storage_stall", "nvme2",
       "[  265.311275] nvme nvme2: I/O 775 QID 2 timeout, aborting\n"
       "[  265.311382] nvme nvme2: I/O 779 QID 2 timeout, aborting\n"},
      {"a node's condition of Xids", "software.gpu_memory_fault", "Xid 31",
       "  XidCriticalError     True    Mon, 23 Jun 2025 18:45:43 +0000   Mon, 23 Jun 2025 18:44:57 "
       "+0000   {\"31\":true}                  6e43a052-e544-467b-a972-63d7cd2ce80a\n"},
      {"a switch that puts the year before its stamp", "network.congestion", "leaf-3",
       "2026 Mar  5 02:47:10.006966 leaf-3 NOTICE swss#orchagent: :- report_pfc_storm: PFC "
       "Watchdog detected PFC storm on port Ethernet64, queue index 3\n"},
  };
  return all;
}

TEST(PostedClusters, SayWhatIsWrongAndWithWhich) {
  for (const Case& it : cases()) {
    SCOPED_TRACE(it.why);
    const Diagnosis diagnosis = pasted(it.text);
    EXPECT_EQ(cause_of(diagnosis), it.cause);
    EXPECT_THAT(title_of(diagnosis), HasSubstr(it.names));
  }
}

TEST(PostedClusters, GiveTheSameAnswerWhenTheyAreChangedOnTheWay) {
  for (const Case& it : cases()) {
    SCOPED_TRACE(it.why);
    expect_the_same_of_mutations(it.text);
  }
}

TEST(PostedClusters, ThatAreHarmlessAccuseNobody) {
  const char* const texts[] = {
      "[  16.600000] sfc 0000:06:00.1 ens1f1: link down\n",
      "[ 1530.800000] blk_update_request: I/O error, dev loop11, sector 0 op 0x1:(WRITE)\n",
      "[ 4242.000000] libceph: osd12 10.0.4.7:6800 socket closed (con state OPEN)\n",
      "[ 4242.000000] habanalabs hl1: Successfully loaded firmware to device\n",
      "  82 | 08/31/2026 | 02:57:33 | Processor #0xc9 | Presence detected | Asserted\n",
      "TERM_RUNLIMIT is what LSF says then\n",
  };
  for (const char* text : texts) {
    SCOPED_TRACE(text);
    const Diagnosis diagnosis = pasted(text);
    EXPECT_THAT(diagnosis.root_causes, IsEmpty());
    EXPECT_EQ(diagnosis.verdict, Verdict::unknown);
  }
}

TEST(PostedClusters, EventsAreOfTheNodeThatOneOfThemNames) {
  const Diagnosis diagnosis = pasted(
      "Events:\n"
      "  Type     Reason        Age    From             Message\n"
      "  ----     ------        ----   ----             -------\n"
      "  Normal   NodeReady     3m10s  kubelet          Node gpu-7 status is now: NodeReady\n"
      "  Warning  SystemOOM     94s    kubelet          System OOM encountered, victim process: "
      "python, pid: 4711\n"
      "  Normal   NodeNotReady  52s    node-controller  Node gpu-7 status is now: "
      "NodeNotReady\n");
  EXPECT_EQ(cause_of(diagnosis), "host.oom_killed") << "it fell silent for that";
  EXPECT_THAT(title_of(diagnosis), HasSubstr("gpu-7"));
}

TEST(PostedClusters, AnExceptionMayBeginAListOfTasksThatNeverCame) {
  const Diagnosis diagnosis = pasted(
      "Traceback (most recent call last):\n"
      "  File \"/opt/train/main.py\", line 31, in <module>\n"
      "    jax.distributed.initialize(coordinator, 6, 0)\n"
      "jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Barrier_id: "
      "PjRT_Client_Connect. Timed out task names:\n"
      "/job:jax_worker/replica:0/task:5\n/job:jax_worker/replica:0/task:2\n");
  EXPECT_EQ(cause_of(diagnosis), "launch.rank_missing");
  EXPECT_THAT(title_of(diagnosis), HasSubstr("Ranks 2, 5"));
  EXPECT_THAT(diagnosis.root_causes, SizeIs(1)) << "the exception only says so";
}

TEST(PostedClusters, ATableOfTorchrunThatIsCutBehindAnExceptionStillTellsIt) {
  const Diagnosis diagnosis = pasted(
      "train.py FAILED\n------------------------------------------------------------\n"
      "Failures:\n[1]:\n  time      : 2026-03-05_02:47:10\n  host      : gpu-7\n"
      "  rank      : 1 (local_rank: 1)\n  exitcode  : 1 (pid: 4711)\n"
      "  error_file: /tmp/torchelastic_x/attempt_0/1/error.json\n"
      "  traceback : Traceback (most recent call last):\n"
      "    File \"/opt/train/train.py\", line 16, in main\n      dist.barrier()\n"
      "  RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is running "
      "collective: CollectiveFingerPrint(SequenceNumber=1OpType=BARRIER), but Rank 2 is running "
      "collective: CollectiveFingerPrint(SequenceNumber=0OpType=BARRIER).");
  EXPECT_EQ(cause_of(diagnosis), "software.collective_mismatch");
}

TEST(PostedClusters, ATracebackWhoseHeadWasCutOffIsStillOne) {
  const std::string tail =
      "    main()\n"
      "  File \"/opt/train/main.py\", line 98, in main\n"
      "    share(handle)\n"
      "  File \"/opt/train/share.py\", line 343, in share\n"
      "    raise RuntimeError(\n";
  const Diagnosis diagnosis = pasted(tail + "RuntimeError: the handle is of another node\nbye\n");
  EXPECT_EQ(cause_of(diagnosis), "software.rank_crashed");
  EXPECT_THAT(title_of(diagnosis), HasSubstr("share.py:343 in share"));
  // A program may print its stack and go on.
  for (const char* next : {"INFO: the handle is new\n", "done in 12 s\n", "Status: fine\n"})
    EXPECT_THAT(pasted(tail + next).root_causes, IsEmpty()) << next;
}

TEST(PostedClusters, AnErrorThatACollectiveRaisedMayBeAPeers) {
  const auto raised = [](const char* type) {
    return confidence_of(
        pasted(std::string("Traceback (most recent call last):\n"
                           "  File \"/opt/torch/distributed/distributed_c10d.py\", line 2501, in "
                           "all_reduce\n    work = group.allreduce([tensor], opts)\n") +
               type + ": function error: XcclAllReduce, error code is 6\n"));
  };
  EXPECT_LT(raised("RuntimeError"), 0.8);
  EXPECT_GT(raised("ValueError"), 0.9) << "its arguments are wrong";
}

TEST(PostedClusters, ALinkThatOnlyJobsUseIsPossiblyTheCauseThoughNoJobIsKnown) {
  const auto down = [](const std::string& netdev) {
    return confidence_of(
        pasted("[ 8423.118204] mlx5_core 0000:19:00.0 " + netdev + ": Link down\n"));
  };
  EXPECT_GT(down("ib1"), 0.5);
  EXPECT_LT(down("eth0"), 0.5);
  const Diagnosis of_a_switch = pasted(
      "Mar  5 02:47:10.006966 leaf-3 NOTICE swss#orchagent: :- updatePortOperStatus: Port "
      "Ethernet8 "
      "oper state set from up to down\n");
  EXPECT_GT(confidence_of(of_a_switch), 0.4);
  EXPECT_THAT(title_of(of_a_switch), HasSubstr("Ethernet8 of switch leaf-3"));
}

TEST(PostedClusters, GpusThatWaitForTheirFabricManagerDidNotFailTheirTest) {
  const Diagnosis diagnosis = pasted(
      "Successfully ran diagnostic for group.\n"
      "+---------------------------+------------------------------------------------+\n"
      "| Diagnostic                | Result                                         |\n"
      "+===========================+================================================+\n"
      "|-----  Hardware  ----------+------------------------------------------------|\n"
      "| GPU Memory                | Fail - All                                     |\n"
      "| Warning                   | GPU 3 Error using CUDA API cuInit Unable to    |\n"
      "|                           | initialize CUDA library: 'system not yet init  |\n"
      "|                           | ialized'.                                      |\n"
      "+---------------------------+------------------------------------------------+\n");
  EXPECT_EQ(cause_of(diagnosis), "gpu.nvswitch_error");
  EXPECT_THAT(title_of(diagnosis), HasSubstr("GPU 3"));
}

TEST(PostedClusters, AFileThatIsNamedAfterARankIsNoHealth) {
  Workshop workshop;
  workshop.write("job/log_rank1.txt", "hello\nworld\n");
  EXPECT_EQ(diagnosis_of(workshop.folder() / "job").verdict, Verdict::unknown);
}

TEST(PostedClusters, AKillThatNobodyExplainsWasPerhapsForMemory) {
  const std::string kill =
      "train.py FAILED\nRoot Cause (first observed failure):\n[0]:\n"
      "  time      : 2026-03-05_02:47:10\n  host      : gpu-7\n  rank      : 3 (local_rank: 3)\n"
      "  exitcode  : -9 (pid: 4711)\n  error_file: <N/A>\n"
      "  traceback : Signal 9 (SIGKILL) received by PID 4711\n";
  const Diagnosis alone = pasted(kill);
  EXPECT_EQ(cause_of(alone), "host.oom_killed");
  EXPECT_LT(confidence_of(alone), 0.5);
  EXPECT_EQ(alone.verdict, Verdict::failed);
  EXPECT_THAT(title_of(alone), HasSubstr("Rank 3 on gpu-7"));

  // The kernel log covers that time and reports no kill for memory.
  Workshop workshop;
  workshop.write("job/torchrun.log", kill);
  workshop.write("job/gpu-7/dmesg.txt",
                 "[Thu Mar  5 02:00:00 2026] eth0: link up\n"
                 "[Thu Mar  5 02:50:00 2026] NVRM: loading NVIDIA UNIX Open Kernel Module\n");
  EXPECT_EQ(cause_of(diagnosis_of(workshop.folder() / "job")), "software.rank_crashed");
}

TEST(PostedClusters, WhatAnEngineRaisedIsToldInsteadOfThatItEnded) {
  const Diagnosis diagnosis = pasted(
      "(EngineCore_DP0 pid=4711) ERROR 03-05 02:47:10 [core.py:708] EngineCore failed to start.\n"
      "(EngineCore_DP0 pid=4711) Traceback (most recent call last):\n"
      "(EngineCore_DP0 pid=4711)   File \"/opt/vllm/core.py\", line 700, in run\n"
      "(EngineCore_DP0 pid=4711)     kernel.run()\n"
      "(EngineCore_DP0 pid=4711) RuntimeError: Triton Error [CUDA]: device kernel image is "
      "invalid\n"
      "Traceback (most recent call last):\n  File \"/opt/main.py\", line 7, in main\n    start()\n"
      "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): "
      "{}\n");
  EXPECT_THAT(title_of(diagnosis), HasSubstr("kernel image is invalid"));
}

TEST(PostedClusters, AnAbortNamesWhoRaisedWhatCppDidNotCatch) {
  const std::string raised =
      "terminate called after throwing an instance of 'c10::Error'\n"
      "  what():  CUDA error: uncorrectable ECC error encountered\n";
  const Diagnosis one = pasted(raised + "gpu-7: rank 277 died from signal 6 and dumped core\n");
  ASSERT_THAT(one.root_causes, Not(IsEmpty()));
  EXPECT_THAT(one.root_causes.front().subject.ranks, testing::ElementsAre(277));
  const Diagnosis two = pasted(raised + "gpu-7: rank 277 died from signal 6 and dumped core\n" +
                               "gpu-8: rank 280 died from signal 6 and dumped core\n");
  ASSERT_THAT(two.root_causes, Not(IsEmpty()));
  EXPECT_THAT(two.root_causes.front().subject.ranks, IsEmpty());
}

TEST(PostedClusters, OneBadPortOfManyThatWereCheckedIsPossiblyTheCause) {
  const std::string errors =
      "Errors for 0x200002 \"leaf-1\"\n"
      "   GUID 0x200002 port ALL: [SymbolErrorCounter == 250]\n"
      "   GUID 0x200002 port 33: [SymbolErrorCounter == 250]\n\n";
  const Diagnosis of_many =
      pasted(errors +
             "## Summary: 16 nodes checked, 1 bad nodes found\n"
             "##          226 ports checked, 1 ports have errors beyond threshold\n");
  EXPECT_EQ(cause_of(of_many), "network.link_errors");
  EXPECT_LT(confidence_of(of_many), 0.6);
  const Diagnosis of_few =
      pasted(errors +
             "## Summary: 2 nodes checked, 1 bad nodes found\n"
             "##          4 ports checked, 2 ports have errors beyond threshold\n");
  EXPECT_THAT(of_few.root_causes, IsEmpty());
}

std::string table(const std::string& rows) {
  return "#       size         count      type   redop    root     time   algbw   busbw #wrong     "
         "time   algbw   busbw #wrong\n" +
         rows + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 9.1\n";
}

TEST(PostedClusters, TablesFallWhereLargerMessagesAreSlowerAndRiseAgain) {
  const Diagnosis diagnosis = pasted(table(
      "     8388608        131072     float    none      -1   263.35   31.85   29.86       0   "
      "268.41   31.25   29.30    N/A\n"
      "    16777216        262144     float    none      -1  10642.5    1.58    1.48       0  "
      "29073.1    0.58    0.54    N/A\n"
      "  8589934592     134217728     float    none      -1   224292   38.30   35.90       0   "
      "211843   40.55   38.01    N/A\n"));
  EXPECT_EQ(cause_of(diagnosis), "performance.bandwidth_low");
  EXPECT_THAT(title_of(diagnosis), HasSubstr("16777216"));
}

TEST(PostedClusters, SixteenRanksThatReachWhatSocketsDoAreSlow) {
  const char* const row =
      "  2147483648     536870912     float     sum      -1  1270070    1.69    3.17    N/A  "
      "1275973 "
      "   1.68    3.16    N/A\n";
  const Diagnosis diagnosis = pasted(table(row));
  EXPECT_EQ(cause_of(diagnosis), "performance.bandwidth_low");
  EXPECT_LT(confidence_of(diagnosis), 0.6);
  EXPECT_THAT(title_of(diagnosis), HasSubstr("16 ranks"));
}

TEST(PostedClusters, ATransferThatMovesNothingForSecondsIsFound) {
  std::string text =
      "Connecting to host 10.0.4.8, port 5201\n"
      "[  4] local 10.0.4.7 port 60920 connected to 10.0.4.8 port 5201\n"
      "[ ID] Interval           Transfer     Bandwidth       Retr  Cwnd\n"
      "[  4]   0.00-1.00   sec  84.8 KBytes   694 Kbits/sec    2   1.41 KBytes\n";
  for (const char* interval : {"1.00-2.00", "2.00-3.00", "3.00-4.00"})
    text += "[  4]   " + std::string(interval) +
            "   sec  0.00 Bytes  0.00 bits/sec    1   1.41 KBytes\n";
  const Diagnosis diagnosis = pasted(text);
  EXPECT_EQ(cause_of(diagnosis), "performance.bandwidth_low");
  EXPECT_THAT(title_of(diagnosis), HasSubstr("10.0.4.8"));
}

TEST(PostedClusters, ProcessesThatDeepSpeedSawEndWellAreHealth) {
  std::string text =
      "[2026-03-05 02:47:10,103] [INFO] [launch.py:145:main] WORLD INFO DICT: {'gpu-7': [0, 1]}\n"
      "[2026-03-05 02:47:10,103] [INFO] [launch.py:163:main] dist_world_size=2\n";
  const std::string well = "[2026-03-05 02:56:10,103] [INFO] [launch.py:346:main] Process ";
  EXPECT_EQ(pasted(text + well + "101 exits successfully.\n").verdict, Verdict::unknown);
  text += well + "101 exits successfully.\n" + well + "102 exits successfully.\n";
  EXPECT_EQ(pasted(text).verdict, Verdict::healthy);
}

// Only the processes of the first of two runs all ended well.
TEST(PostedClusters, ProcessesThatEndedWellBeforeTheyWereStartedAgainAreNoHealth) {
  const std::string started =
      "[2026-03-05 02:47:10,103] [INFO] [launch.py:163:main] dist_world_size=2\n";
  const std::string well =
      "[2026-03-05 02:56:10,103] [INFO] [launch.py:346:main] Process 101 exits successfully.\n"
      "[2026-03-05 02:56:11,103] [INFO] [launch.py:346:main] Process 102 exits successfully.\n";
  const std::string again =
      "[2026-03-05 03:47:10,103] [INFO] [launch.py:163:main] dist_world_size=2\n";
  EXPECT_EQ(pasted(started + well).verdict, Verdict::healthy);
  EXPECT_EQ(pasted(started + well + again +
                   "[2026-03-05 03:56:10,103] [INFO] [launch.py:346:main] Process 201 exits "
                   "successfully.\n")
                .verdict,
            Verdict::unknown);
  EXPECT_EQ(pasted(started + well + again +
                   "[2026-03-05 03:48:10,103] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, "
                   "skipped=0, lr=[0.001], mom=[(0.9, 0.95)]\n")
                .verdict,
            Verdict::unknown);
}

// A line that is too weak to be the cause does not hide an exception of a rank.
TEST(PostedClusters, AnExceptionIsToldThoughAHintStandsBeforeIt) {
  const Diagnosis diagnosis = pasted(
      "E0305 02:47:10.1 2 kubelet.go:2349] container runtime is down\n"
      "[rank0]: Traceback (most recent call last):\n"
      "[rank0]:   File \"/opt/train.py\", line 7, in main\n"
      "[rank0]:     step()\n"
      "[rank0]: ValueError: sample 3 is truncated\n");
  EXPECT_EQ(cause_of(diagnosis), "software.rank_crashed");
  EXPECT_EQ(diagnosis.verdict, Verdict::failed);
}

TEST(PostedClusters, AHostsRingThatWasLostBeforeWhatItMountsComesFirst) {
  const Diagnosis diagnosis = pasted(
      "May 13 03:57:07 oss-3 corosync[2981]:   [TOTEM ] Marking ringid 1 interface 10.20.0.4 "
      "FAULTY\n"
      "May 13 03:57:24 oss-3 kernel: Lustre: scratch-MDT0000-lwp-OST0003: Connection to "
      "scratch-MDT0000 (at 10.20.0.9@o2ib) was lost; in progress operations using this service "
      "will wait for recovery to complete\n");
  ASSERT_THAT(diagnosis.root_causes, SizeIs(2));
  EXPECT_EQ(diagnosis.root_causes[0].cause, Cause::network_link_down);
  EXPECT_THAT(diagnosis.root_causes[0].title, HasSubstr("10.20.0.4"));
  EXPECT_EQ(diagnosis.root_causes[1].cause, Cause::host_storage_stall);
}

}  // namespace
}  // namespace faultline
