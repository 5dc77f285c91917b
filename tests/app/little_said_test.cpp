// What little a log may say of why a rank failed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "pasted.h"

namespace faultline {
namespace {

using testing::HasSubstr;

TEST(LittleSaid, ALaunchFailureDoesNotSayWhoseFaultItIs) {
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

TEST(LittleSaid, WhatATestFindsWrongEndsNoRank) {
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

TEST(LittleSaid, WhatARunnerRaisesUponATestsFindingEndsNoRankEither) {
  const auto raised = [](const std::string& file, const std::string& chained) {
    return "Traceback (most recent call last):\n"
           "  File \"" +
           file +
           "\", line 703, in fail\n"
           "    raise self.failureException(msg)\n"
           "AssertionError: 312.5 not greater than or equal to 400\n" +
           chained +
           "Traceback (most recent call last):\n"
           "  File \"/srv/checks/again.py\", line 12, in tried\n"
           "    raise RuntimeError(\"gave up after 3 tries\")\n"
           "RuntimeError: gave up after 3 tries\n";
  };
  const std::string upon =
      "\nDuring handling of the above exception, another exception occurred:\n\n";
  const std::string of_a_test = "/usr/lib/python3.11/unittest/case.py";
  EXPECT_LT(confidence_of(pasted(raised(of_a_test, upon))), 0.65);
  EXPECT_GT(confidence_of(pasted(raised(of_a_test, ""))), 0.65);
  EXPECT_GT(confidence_of(pasted(raised("/srv/checks/limits.py", upon))), 0.65);
  // An error that says why stands, whatever it was raised upon.
  EXPECT_GT(confidence_of(pasted(raised(of_a_test, upon +
                                                       "Traceback (most recent call last):\n"
                                                       "  File \"/srv/t.py\", line 9, in f\n"
                                                       "torch.OutOfMemoryError: CUDA out of "
                                                       "memory. Tried to allocate 2.00 GiB\n" +
                                                       upon))),
            0.65);
  // A program may compare values while it trains.
  EXPECT_GT(confidence_of(pasted(raised("/usr/lib/python3.11/torch/testing/_comparison.py", upon))),
            0.65);
}

TEST(LittleSaid, ATitleNamesTheRankAlsoWhereTheErrorGivesNoReason) {
  const auto failed = [](const char* label, const char* error = "unknown error") {
    return fmt::format(
        "{0}Traceback (most recent call last):\n"
        "{0}  File \"/srv/bench/run.py\", line 31, in step\n"
        "{0}    torch.cuda.synchronize()\n"
        "{0}torch.AcceleratorError: CUDA error: {1}\n",
        label, error);
  };
  EXPECT_THAT(title_of(pasted(failed("[rank3]: "))), testing::StartsWith("Rank 3 ended at a CUDA"));
  EXPECT_THAT(title_of(pasted(failed(""))), testing::StartsWith("A rank ended at a CUDA"));
  EXPECT_THAT(title_of(pasted(failed("[rank3]: ") + failed("[rank4]: "))),
              testing::StartsWith("Ranks 3, 4 ended at a CUDA"));
  EXPECT_THAT(title_of(pasted(failed("[rank3]: ", "unspecified launch failure") +
                              failed("[rank4]: ", "unspecified launch failure"))),
              testing::StartsWith("A kernel of ranks 3, 4 failed"));
  std::string many;
  for (int rank = 0; rank < 12; ++rank)
    many += failed(fmt::format("[rank{}]: ", rank).c_str(), "unspecified launch failure");
  EXPECT_THAT(title_of(pasted(many)), testing::StartsWith("A kernel of 12 ranks failed"));
}

TEST(LittleSaid, ARankWaitsSinceATimeWithoutAZoneWhereTheLogNamesNone) {
  const Diagnosis diagnosis = pasted(
      "[rank3]:[E305 02:57:29.610144615 ProcessGroupNCCL.cpp:632] [Rank 3] Watchdog caught "
      "collective operation timeout: WorkNCCL(SeqNum=77, OpType=ALLREDUCE, NumelIn=1024, "
      "NumelOut=1024, Timeout(ms)=600000) ran for 600000 milliseconds before timing out.\n");
  EXPECT_THAT(title_of(diagnosis), testing::ContainsRegex("waiting since 20..-03-05 02:47:29$"));
}

TEST(LittleSaid, AKernelThatCountsThousandsOfCorrectedErrorsIsMentionedAndNoCause) {
  const std::string lines =
      "[Hardware Error]: CPU 4: Machine Check: 0 Bank 9: cc05a2c000010091\n"
      "[Hardware Error]: TSC 0 MISC 5220840004000600\n"
      "[Hardware Error]: PROCESSOR 0:606a6 TIME 1772678831 SOCKET 0 APIC 8 microcode d0003a5\n";
  const Diagnosis diagnosis = pasted(lines);
  EXPECT_EQ(diagnosis.verdict, Verdict::unknown);
  EXPECT_TRUE(diagnosis.root_causes.empty()) << title_of(diagnosis);
  ASSERT_EQ(diagnosis.observations.size(), 1u);
  EXPECT_THAT(diagnosis.observations[0].title, HasSubstr("corrected more than a thousand errors"));
}

}  // namespace
}  // namespace faultline
