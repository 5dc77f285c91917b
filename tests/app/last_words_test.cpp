// The last words of a runtime, a shell or a kernel, when nothing else is known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "pasted.h"

namespace faultline {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(LastWords, OfAnyRuntimeTellThatTheProgramEndedAndOfWhat) {
  for (const std::string& text :
       {std::string("panic: runtime error: index out of range [7] with length 3\n\ngoroutine 1 "
                    "[running]:\n"),
        std::string("thread 'main' panicked at src/main.rs:41:10:\nno device\n"),
        std::string("Exception in thread \"main\" java.lang.IllegalStateException: no executor\n"),
        std::string("At line 12 of file solver.f90\nFortran runtime error: End of file\n"),
        std::string("ERROR: LoadError: ArgumentError: Package MPI not found\nStacktrace:\n"),
        std::string("==48213==ERROR: AddressSanitizer: heap-use-after-free on address 0x6020\n"),
        std::string("train: solver.cc:212: void step(int): Assertion `n > 0' failed.\nAborted "
                    "(core dumped)\n"),
        std::string("F0305 02:47:10.123456 48213 main.cc:33] Check failed: n > 0 (0 vs. 0)\n")}) {
    SCOPED_TRACE(text);
    const Diagnosis diagnosis = pasted(text);
    EXPECT_EQ(diagnosis.verdict, Verdict::failed);
    ASSERT_EQ(diagnosis.root_causes.size(), 1U);
    EXPECT_EQ(diagnosis.root_causes.front().cause, Cause::software_rank_crashed);
    expect_the_same_of_mutations(text);
  }
}

TEST(LastWords, AnAbortIsSaidWhereNothingElseIsKnown) {
  const Diagnosis alone = pasted("srun: error: gpu-7: task 5: Aborted (core dumped)\n");
  EXPECT_THAT(title_of(alone), HasSubstr("Rank 5 on gpu-7 aborted"));
  EXPECT_LT(alone.root_causes.front().confidence, 0.8);
  const Diagnosis explained = pasted(
      "terminate called after throwing an instance of 'std::bad_alloc'\n"
      "  what():  std::bad_alloc\n"
      "srun: error: gpu-7: task 5: Aborted (core dumped)\n");
  ASSERT_EQ(explained.root_causes.size(), 1U);
  EXPECT_THAT(title_of(explained), HasSubstr("std::bad_alloc"));
}

TEST(LastWords, OfALibraryBelowAnExceptionGiveItsReason) {
  const Diagnosis diagnosis = pasted(
      "[rank1]: Traceback (most recent call last):\n"
      "[rank1]:   File \"/opt/torch/distributed/distributed_c10d.py\", line 2501, in all_reduce\n"
      "[rank1]:     work = group.allreduce([tensor], opts)\n"
      "[rank1]: RuntimeError: OPS function error: HcclAllreduce, error code is 6\n"
      "[rank1]: EI0006: [PID: 4242] 2026-03-05-02:47:10.444.436 Getting socket times out. Reason: "
      "Remote Rank did not send the data in time.\n");
  ASSERT_EQ(diagnosis.root_causes.size(), 1U);
  EXPECT_EQ(diagnosis.root_causes.front().cause, Cause::launch_connect_failed);
}

// The cause is not that a rank ended, but the checklist counts the end all the same.
TEST(LastWords, OfALauncherPutWhoEndedIntoTheChecklist) {
  const Diagnosis diagnosis = pasted(
      "[1,3]<stderr>:RuntimeError: CUDA error: an illegal memory access was encountered\n"
      "mpirun detected that one or more processes exited with non-zero status, thus causing\n"
      "the job to be terminated. The first process to do so was:\n\n"
      "  Process name: [[27101,1],3]\n"
      "  Exit code:    1\n");
  EXPECT_EQ(cause_of(diagnosis), "software.gpu_memory_fault");
  const auto check = std::ranges::find(diagnosis.checklist, "all ranks alive", &Check::check);
  ASSERT_NE(check, diagnosis.checklist.end());
  EXPECT_EQ(check->status, CheckStatus::fail);
  EXPECT_EQ(check->detail, "ended: rank 3");
}

// Neither line names the host, but all lines of one kernel log are of one machine.
TEST(LastWords, OfAKernelWithoutANameAreOfOneMachine) {
  const Diagnosis diagnosis = pasted(
      "[  331.267175] I/O error, dev sda, sector 35602992 op 0x0:(READ) flags 0x80700 phys_seg 33\n"
      "[  528.386085] INFO: task kworker/u290:0:453 blocked for more than 122 seconds.\n");
  ASSERT_EQ(diagnosis.root_causes.size(), 1U);
  EXPECT_EQ(diagnosis.root_causes.front().cause, Cause::host_storage_stall);
}

TEST(LastWords, OfAKernelAreReadAsAMailBreaksThem) {
  const Diagnosis diagnosis = pasted(
      "[ 2346.279770] watchdog: BUG: soft lockup - CPU#45 stuck for 134s!\n"
      "[kworker/u258:1:26886]\n"
      "[ 2346.280102] Kernel panic - not syncing: softlockup: hung tasks\n");
  ASSERT_EQ(diagnosis.root_causes.size(), 1U);
  EXPECT_EQ(diagnosis.root_causes.front().cause, Cause::host_cpu_hang);
  // The rest of a driver's line may begin like a row of lspci without being one.
  const Diagnosis driver = pasted(
      "Aug 15 12:21:38 gpu-7 kernel: [325977.1] eth0: a line that is longer than the next one\n"
      "Aug 15 12:21:39 gpu-7 kernel: [325978.631877] bnxt_en\n"
      "0000:45:00.0 eth0: TX timeout detected, starting reset task!\n");
  EXPECT_EQ(cause_of(driver), "network.nic_failure");
}

TEST(LastWords, AnInterfaceThatSomebodyAskedForAndHasNoLinkIsSaidUnsurely) {
  const std::string settings = "Settings for eth3:\n\tSpeed: {}\n\tDuplex: Full\n\tLink detected: ";
  const Diagnosis down = pasted(settings + "no\n");
  ASSERT_EQ(down.root_causes.size(), 1U);
  EXPECT_EQ(down.root_causes.front().cause, Cause::network_link_down);
  EXPECT_LT(down.root_causes.front().confidence, 0.5);
  EXPECT_THAT(pasted(settings + "yes\n").root_causes, IsEmpty());
}

}  // namespace
}  // namespace faultline
