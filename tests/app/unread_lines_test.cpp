// Logs as people paste them, and what the answer says about lines that are easily overlooked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "workshop.h"

namespace faultline {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace json = boost::json;

struct Pasted {
  explicit Pasted(const std::string& text) {
    Workshop workshop;
    workshop.write("job/pasted.log", text);
    // The exit status only repeats whether something is wrong, so it is ignored.
    answer = json::parse(
        workshop.make("{ '" FAULTLINE_BINARY "' diagnose --format json job >out; true; }"));
  }

  std::string text(const char* name) const { return std::string(answer.at(name).as_string()); }
  std::vector<std::string> classes(const char* list) const {
    std::vector<std::string> all;
    for (const json::value& finding : answer.at(list).as_array())
      all.emplace_back(finding.at("class").as_string());
    return all;
  }
  std::vector<int> ranks_of_the_cause() const {
    return json::value_to<std::vector<int>>(
        answer.at("root_causes").at(0).at("subject").at("ranks"));
  }

  json::value answer;
};

struct Case {
  const char* why;
  const char* text;
};

// --- Kernels and programs of the host ------------------------------------------------------------

TEST(UnreadKernelLines, ThatLookLikeErrorsAreShownAndLeaveTheVerdictOpen) {
  const Case cases[] = {
      {"of the GPUs' driver",
       "[81234.100200] NVRM: kfspPollForResponse_IMPL: FSP command timed out\n"},
      {"the same without a colon, in a journal",
       "Mar 05 02:47:11 gpu-node-17 kernel: NVRM nvAssertOkFailedNoLog: Assertion failed: Invalid "
       "data passed [NV_ERR_INVALID_DATA] (0x00000025) @ mem_utils.c:283\n"},
      {"without any framing", "NVRM: kfspPollForResponse_IMPL: FSP command timed out\n"},
      {"of a NIC's driver",
       "[81234.100200] mlx5_core 0000:5c:00.0: mlx5_cmd_out_err:838:(pid 7790): CREATE_CQ(0x400) "
       "op_mod(0x0) failed, status bad parameter(0x3), syndrome (0x3c2f31), err(-22)\n"},
      {"of RDMA's",
       "[81234.100200] infiniband mlx5_0: create_qp:3211:(pid 812): Create QP type 2 failed\n"},
      {"of a switch's", "[81234.100200] nvidia-nvswitch2: Interrupts disabled to avoid a storm\n"},
      {"of the kernel itself",
       "[81234.100200] BUG: workqueue lockup - pool cpus=5 node=0 flags=0x0 nice=0 stuck for "
       "72s!\n"},
      {"of the fabric manager",
       "Mar 05 02:47:10 gpu-node-17 kernel: usb 1-1: new high-speed USB device number 2\n"
       "Mar 05 02:47:11 gpu-node-17 nv-fabricmanager[123]: failed to configure all the available "
       "GPUs or NVSwitches\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    const Pasted log(c.text);
    EXPECT_EQ(log.text("verdict"), "unknown");
    for (const json::value& cause : log.answer.at("root_causes").as_array())
      EXPECT_LT(cause.at("confidence").to_number<double>(), 0.5) << cause;
    EXPECT_THAT(log.classes("observations"), Contains("host.error"));
    EXPECT_THAT(log.text("summary"),
                testing::AnyOf(HasSubstr("not known here"), HasSubstr("an error of its own"),
                               HasSubstr("that no rule reads")));
  }
}

TEST(UnreadKernelLines, ThatOnlySoundLikeErrorsAreChatter) {
  const Case cases[] = {
      {"a module that nobody signed",
       "[81234.100200] nvidia: module verification failed: signature and/or required key missing - "
       "tainting kernel\n"},
      {"a register that the adapter does not have",
       "[81234.100200] mlx5_core 0000:0d:00.0: mlx5_cmd_out_err:838:(pid 7790): ACCESS_REG(0x805) "
       "op_mod(0x1) failed, status bad resource(0x5), syndrome (0x305684), err(-22)\n"},
      {"a switch's start",
       "[81234.100200] nvidia-nvswitch: Probing device 0000:c1:00.0, Vendor Id = 0x10de\n"},
      {"others' errors", "[81234.100200] EXT4-fs (sda6): re-mounted. Opts: errors=remount-ro\n"},
      {"what a driver tries while the host starts",
       "[   12.100200] mlx5_core 0000:0d:00.0: E-Switch: Failed to query the vport\n"},
      {"errors that were not counted",
       "[81234.100200] NVRM: GPU 0000:3b:00.0: ECC scrub finished with 0 errors\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    const Pasted log(c.text);
    EXPECT_EQ(log.text("verdict"), "unknown") << "no rank was seen";
    EXPECT_THAT(log.classes("root_causes"), IsEmpty());
    EXPECT_THAT(log.classes("observations"), IsEmpty());
  }
}

TEST(UnreadKernelLines, AGpuThatDidNotStartAtBootIsAFault) {
  const Pasted log(
      "[   41.700023] NVRM: GPU 0000:5d:00.0: RmInitAdapter failed! (0x62:0x40:2193)\n"
      "[   41.700144] NVRM: GPU 0000:5d:00.0: rm_init_adapter failed, device minor number 3\n");
  EXPECT_EQ(log.text("verdict"), "failed");
  EXPECT_THAT(log.classes("root_causes"), ElementsAre("gpu.hang"));
}

TEST(FabricManager, IsReadInTheJournal) {
  const Case cases[] = {
      {"software.version_mismatch",
       "Nov 05 13:55:26 node1 nv-fabricmanager[104230]: fabric manager NVIDIA GPU driver interface "
       "version 550.127.05 don't match with driver version 550.120. Please update with matching "
       "NVIDIA driver package.\n"},
      {"gpu.nvswitch_error",
       "Nov 05 13:55:26 node1 systemd[1]: nvidia-fabricmanager.service: Control process exited, "
       "code=exited, status=1/FAILURE\n"
       "Nov 05 13:55:26 node1 systemd[1]: Failed to start NVIDIA fabric manager service.\n"},
      {"gpu.nvswitch_error",
       "Mar 05 02:47:12 node1 nv-fabricmanager[841]: detected NVSwitch fatal error 20034 on fid 0 "
       "on "
       "NVSwitch pci bus id 00000000:86:00.0 physical id 3 port 33\n"},
  };
  for (const Case& c : cases)
    EXPECT_THAT(Pasted(c.text).classes("root_causes"), ElementsAre(c.why));
}

// --- NCCL
// -----------------------------------------------------------------------------------------

TEST(SharedMemory, ThatCudaDoesNotTakeIsNotFull) {
  const std::string cuda =
      "node1:615:640 [1] misc/shmutils.cc:103 NCCL WARN Cuda failure 'invalid argument'\n";
  const std::string segment =
      "node1:615:640 [1] misc/shmutils.cc:114 NCCL WARN Error while creating shared memory segment "
      "/dev/shm/nccl-NzwJ7O (size 9637888)\n";
  const std::string full =
      "node1:615:640 [1] misc/shmutils.cc:71 NCCL WARN Error: failed to extend "
      "/dev/shm/nccl-NzwJ7O "
      "to 9637892 bytes\n";
  const Pasted refused(cuda + segment);
  EXPECT_THAT(refused.classes("root_causes"), ElementsAre("nccl.error"));
  EXPECT_THAT(std::string(refused.answer.at("root_causes").at(0).at("title").as_string()),
              HasSubstr("invalid argument"));
  EXPECT_THAT(Pasted(full + segment).classes("root_causes"), ElementsAre("host.shm_full"));
  EXPECT_THAT(Pasted(segment).classes("root_causes"), ElementsAre("host.shm_full"));
}

TEST(BrokenWarnings, AreReadWhereATerminalBrokeThem) {
  const Case cases[] = {
      {"between two words",
       "node1:615:640 [0] NCCL WARN NET/OFI Request 0x7f1ae00b9a40 completed with\n"
       "error. RC: 103. Error: 4 (Unreachable remote). Completed length: 0\n"},
      {"in the midst of a word",
       "node1:615:640 [0] NCCL WARN NET/OFI Request 0x7f1ae00b9a40 comple\n"
       "ted with error. RC: 103. Error: 4 (Unreachable remote). Completed length: 0\n"},
      {"twice",
       "node1:615:640 [0] transport/net_ofi.cc:7 NCCL WARN NET/OFI Request\n"
       "completed with error. RC:\n"
       "107. Error: Inappropriate ioctl for device. Completed length: 0\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_THAT(Pasted(c.text).classes("root_causes"), ElementsAre("network.transport_error"));
  }
}

TEST(BrokenWarnings, DoNotTakeInWhatAProgramPrintsAfterThem) {
  const Pasted log(
      "node1:615:640 [0] init.cc:9 NCCL WARN something that nobody has heard of\n"
      "the connection to the metrics server was closed by remote peer, error 5\n"
      "epoch 3 loss 2.1\n");
  EXPECT_THAT(log.classes("root_causes"), IsEmpty());
}

TEST(Libfabric, SaysWhatNcclDoesNotPrint) {
  const Pasted log(
      "libfabric:451707:1708520807::efa:cq:efa_rdm_txe_handle_error():737<warn> err: 5, message: "
      "Invalid address My EFA addr: fi_addr_efa://[fe80::13]:0:1072 My host id: N/A (7)\n");
  EXPECT_THAT(log.classes("root_causes"), ElementsAre("network.transport_error"));
}

// --- Launchers
// ------------------------------------------------------------------------------------

constexpr const char* kStoreTimedOut =
    "[rank0]: Traceback (most recent call last):\n"
    "[rank0]:   File \"/job/train.py\", line 31, in <module>\n"
    "[rank0]:     main()\n"
    "[rank0]: torch.distributed.DistStoreError: wait timeout after 900000ms, keys: /barrier/0\n";

TEST(Torchrun, WhoIsKilledAfterAnotherHasWaitedInVainIsNotTheCause) {
  const std::string killed =
      "E0305 02:47:44.100000 700 torch/distributed/elastic/multiprocessing/api.py:869] failed "
      "(exitcode: -9) local_rank: 1 (pid: 4243) of binary: /usr/bin/python3\n";
  const Pasted log(kStoreTimedOut + killed);
  EXPECT_THAT(log.classes("root_causes"), Not(Contains("software.rank_crashed")));
  EXPECT_NE(log.text("verdict"), "healthy");
}

std::string table_of(const std::string& first, const std::string& others) {
  return "train.py "
         "FAILED\n------------------------------------------------------------\nFailures:\n" +
         others +
         "------------------------------------------------------------\n"
         "Root Cause (first observed failure):\n" +
         first + "============================================================\n";
}

std::string row(int rank, const std::string& clock, int code) {
  return "[" + std::to_string(rank) + "]:\n  time      : 2026-03-05_" + clock +
         "\n  host      : gpu-7\n  rank      : " + std::to_string(rank) +
         " (local_rank: " + std::to_string(rank) + ")\n  exitcode  : " + std::to_string(code) +
         " (pid: " + std::to_string(4242 + rank) + ")\n  error_file: <N/A>\n  traceback : Signal\n";
}

TEST(Torchrun, WhoIsKilledLongAfterAnotherFailedIsNotTheCause) {
  const Pasted log(table_of(row(2, "02:47:12", 1), row(1, "02:47:43", -9)));
  EXPECT_EQ(log.ranks_of_the_cause(), std::vector<int>{2});
}

TEST(Torchrun, WhoIsKilledFirstIsTheCauseWhateverTheOthersReturn) {
  const Pasted log(table_of(row(0, "02:47:12", 1), row(1, "02:47:12", -9)));
  EXPECT_THAT(log.classes("root_causes"), ElementsAre("host.oom_killed"));  // a possible cause
  EXPECT_THAT(log.classes("symptoms"), Contains("software.rank_crashed"));
  EXPECT_EQ(log.ranks_of_the_cause(), std::vector<int>{1});
}

// --- Horovod
// --------------------------------------------------------------------------------------

constexpr const char* kWaits =
    "[2021-02-02 21:19:07.345988: W horovod/common/stall_inspector.cc:105] One or more tensors "
    "were "
    "submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting for "
    "remainder of ranks for more than 60 seconds.\n";

TEST(Horovod, NamesTheRanksThatTheOthersWaitFor) {
  const std::string head = kWaits;
  const std::pair<const char*, std::vector<int>> cases[] = {
      {"Missing ranks:\n3: [HorovodAllreduce_grads_0, HorovodAllreduce_grads_1 ...]\n", {3}},
      {"Stalled ranks:\n1: [HorovodAllreduce_Const_9_0]\n5!: [HorovodAllreduce_Const_9_0]\n",
       {1, 5}},
      {"[1,0]<stderr>:Missing ranks:\n[1,0]<stderr>:2: [HorovodAllreduce_Const_9_0]\n", {2}},
      // The list is printed again as long as ranks are missing; the last one counts.
      {"Missing ranks:\n3: [a]\n4: [a]\n\nMissing ranks:\n4: [a]\n", {4}},
      // Before 0.19 there is a line for each tensor. A rank that misses some tensors may wait in
      // others.
      {"Stalled ops:\nHorovodBroadcast_conv1_weights_0 [missing ranks: 0]\n"
       "HorovodBroadcast_conv1_biases_0 [missing ranks: 0, 2]\n",
       {0}},
      {"[1,0]<stderr>:[2019-04-13 13:53:31.851506: W horovod/common/operations.cc:588] "
       "HorovodBroadcast_dense_bias_0 [missing ranks: 1]\n",
       {1}},
  };
  for (const auto& [list, ranks] : cases) {
    SCOPED_TRACE(list);
    const Pasted log(head + list);
    EXPECT_EQ(log.text("verdict"), "hang");
    ASSERT_THAT(log.classes("root_causes"), ElementsAre("collective.rank_behind"));
    EXPECT_EQ(log.ranks_of_the_cause(), ranks);
  }
}

TEST(Horovod, AccusesNobodyWhereRanksWaitForEachOther) {
  const Pasted log(
      std::string(kWaits) +
      "HorovodAllreduce_a [missing ranks: 0]\nHorovodAllreduce_b [missing ranks: 1]\n");
  EXPECT_THAT(log.classes("root_causes"), Not(Contains("collective.rank_behind")));
}

}  // namespace
}  // namespace faultline
