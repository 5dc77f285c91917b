// Who failed first, where a log holds little but the end of one rank.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "pasted.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string lost_worker(int rank) {
  return fmt::format(
      "[rank{0}]: Traceback (most recent call last):\n"
      "[rank{0}]:   File "
      "\"/opt/venv/lib/python3.11/site-packages/torch/utils/data/dataloader.py\", "
      "line 1145, in _try_get_data\n"
      "[rank{0}]:     raise RuntimeError(f\"gone\") from e\n"
      "[rank{0}]: RuntimeError: DataLoader worker (pid(s) 70{0}1) exited unexpectedly\n",
      rank);
}

std::string told_to_end(int process) {
  return fmt::format(
      "W0305 02:47:31.687000 4041 torch/distributed/elastic/multiprocessing/api.py:858] Sending "
      "process {} closing signal SIGTERM\n",
      process);
}

TEST(FirstToFail, ARankWhoseHelperDiedFollowedNobodyIfItIsTheOnlyOne) {
  const Diagnosis alone = pasted(lost_worker(2) + told_to_end(44) + told_to_end(45));
  EXPECT_EQ(cause_of(alone), "software.rank_crashed");
  EXPECT_THAT(title_of(alone), HasSubstr("A helper process of rank 2 died"));
  EXPECT_THAT(alone.root_causes.front().subject.ranks, ElementsAre(2));
  EXPECT_LT(confidence_of(alone), 0.9) << "the log does not show why it died";
  EXPECT_EQ(cause_of(pasted(lost_worker(2) + lost_worker(3) + told_to_end(44))), "process.aborted");
}

TEST(FirstToFail, AProcessWithoutARankThatEndedAloneFailedByItself) {
  const std::string ended = told_to_end(51) + told_to_end(52) +
                            "E0305 02:47:34.000000 4041 torch/distributed/elastic/multiprocessing/"
                            "api.py:874] failed (exitcode: 1) local_rank: 3 (pid: 54) of binary: "
                            "/usr/bin/python3\n";
  const Diagnosis alone = pasted(ended);
  EXPECT_EQ(cause_of(alone), "software.rank_crashed");
  EXPECT_THAT(title_of(alone), HasSubstr("ocal rank 3"));
  const Diagnosis beside_a_peer = pasted(
      "[rank1]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2251, "
      "remote "
      "process exited or there was a network error, NCCL version 2.21.5\n" +
      ended);
  EXPECT_NE(cause_of(beside_a_peer), "software.rank_crashed") << "it may have followed, too";
}

TEST(FirstToFail, ALaunchFailureDoesNotSayWhoseFaultItIs) {
  const auto failure = [](const std::string& error) {
    return "[rank1]: Traceback (most recent call last):\n"
           "[rank1]:   File \"/srv/bench/run.py\", line 31, in step\n"
           "[rank1]:     torch.cuda.synchronize()\n"
           "[rank1]: torch.AcceleratorError: CUDA error: " +
           error + "\n";
  };
  const std::string seen_by_nccl =
      "[2026-03-05 02:47:31] n1:4243:4299 [1] misc/strongstream.cc:424 NCCL WARN Cuda failure "
      "'unspecified launch failure'\n";
  const Diagnosis vague = pasted(failure("unspecified launch failure") + seen_by_nccl);
  EXPECT_EQ(cause_of(vague), "software.gpu_memory_fault");
  EXPECT_LT(confidence_of(vague), 0.8);
  EXPECT_GT(confidence_of(pasted(failure("an illegal memory access was encountered"))), 0.9);
}

TEST(FirstToFail, WhatATestFindsWrongEndsNoRank) {
  const auto raised = [](const std::string& file) {
    return "Traceback (most recent call last):\n"
           "  File \"/srv/checks/speed.py\", line 57, in run\n"
           "    self.check(speed)\n"
           "  File \"" +
           file +
           "\", line 703, in fail\n"
           "    raise self.failureException(msg)\n"
           "AssertionError: 312.5 not greater than or equal to 400\n";
  };
  EXPECT_LT(confidence_of(pasted(raised("/usr/lib/python3.11/unittest/case.py"))), 0.65);
  EXPECT_GT(confidence_of(pasted(raised("/srv/checks/limits.py"))), 0.65);
}

TEST(FirstToFail, ARankWaitsSinceATimeWithoutAZoneWhereTheLogNamesNone) {
  const auto timed_out = [](const std::string& head) {
    return pasted(head +
                  "[rank3]:[E305 02:57:29.610144615 ProcessGroupNCCL.cpp:632] [Rank 3] Watchdog "
                  "caught collective operation timeout: WorkNCCL(SeqNum=77, OpType=ALLREDUCE, "
                  "NumelIn=1024, NumelOut=1024, Timeout(ms)=600000) ran for 600000 milliseconds "
                  "before timing out.\n");
  };
  EXPECT_THAT(title_of(timed_out("")), testing::EndsWith(" 02:47:29"));
  EXPECT_THAT(title_of(timed_out("")), HasSubstr("waiting since 20"));
}

TEST(FirstToFail, AKernelThatCountsThousandsOfCorrectedErrorsIsMentionedAndNoCause) {
  const std::string lines =
      "[Hardware Error]: CPU 4: Machine Check: 0 Bank 9: cc05a2c000010091\n"
      "[Hardware Error]: TSC 0 MISC 5220840004000600\n"
      "[Hardware Error]: PROCESSOR 0:606a6 TIME 1772678831 SOCKET 0 APIC 8 microcode d0003a5\n";
  const Diagnosis diagnosis = pasted(lines);
  EXPECT_EQ(diagnosis.verdict, Verdict::unknown);
  EXPECT_TRUE(diagnosis.root_causes.empty()) << title_of(diagnosis);
  ASSERT_FALSE(diagnosis.symptoms.empty() && diagnosis.observations.empty());
}

}  // namespace
}  // namespace faultline
