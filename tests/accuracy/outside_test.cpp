// Real logs beside simulated ones: how labels are read, answers are judged, and kernel logs are
// rewritten for another time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "accuracy/kernel_text.h"
#include "accuracy/real.h"
#include "simulate/job.h"

namespace faultline::accuracy {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Labels, NameTheClassesAndThePartsOfACulpritInFreeWords) {
  const std::vector<Label> labels = labels_of(R"([
    {"file": "a.log", "expected": {"class": "xid_79_gpu_off_bus", "culprit": "GPU 0000:3b:00"}},
    {"file": "b", "expected": {"class": "rank_gpu_error", "culprit": "ranks 12 and 14"}},
    {"file": "c.log", "expected": {"class": "healthy", "culprit": null}},
    {"file": "d.log", "verdict": ["hang"], "class": "collective.|software.", "text_says": ["7"]}])");
  ASSERT_EQ(labels.size(), 4U);
  EXPECT_THAT(labels[0].classes, ElementsAre("gpu.off_bus"));
  EXPECT_THAT(labels[0].parts, ElementsAre("0000:3b:00"));
  EXPECT_THAT(labels[1].parts, ElementsAre("rank 12", "rank 14"));
  EXPECT_THAT(labels[2].classes, IsEmpty());
  EXPECT_THAT(labels[3].classes, ElementsAre("collective.", "software."));
  EXPECT_THAT(labels[3].says, ElementsAre("7"));
}

TEST(Labels, OfAnUnknownWordAreRefused) {
  EXPECT_THROW(labels_of(R"([{"file": "a", "expected": {"class": "gremlins"}}])"),
               std::runtime_error);
}

Diagnosis accusing(std::string_view cause, double confidence) {
  Diagnosis diagnosis;
  diagnosis.verdict = Verdict::failed;
  Finding finding;
  finding.cause = cause_named(cause);
  finding.confidence = confidence;
  finding.subject.gpus = {"gpu-node-1/0000:3b:00.0"};
  diagnosis.root_causes.push_back(finding);
  return diagnosis;
}

TEST(RealLogs, AreRightWrongOrOverAccused) {
  const Label off_bus{.classes = {"gpu.off_bus"}, .parts = {"0000:3b:00"}};
  EXPECT_EQ(judge_real(accusing("gpu.off_bus", 0.9), off_bus).told, Told::right);
  EXPECT_TRUE(judge_real(accusing("gpu.off_bus", 0.9), off_bus).parts_named);
  EXPECT_EQ(judge_real(accusing("gpu.hang", 0.7), off_bus).told, Told::wrong);
  EXPECT_EQ(judge_real(accusing("gpu.hang", 0.8), off_bus).told, Told::over_accused);
  EXPECT_EQ(judge_real(accusing("gpu.hang", 0.5), Label{}).told, Told::over_accused);
  EXPECT_EQ(judge_real(Diagnosis{}, Label{}).told, Told::right);
  const Label nobody_knows{.symptoms_allowed = true};
  EXPECT_EQ(judge_real(accusing("gpu.hang", 0.6), nobody_knows).told, Told::over_accused);
}

struct Collected {
  const char* how;
  const char* log;
};
constexpr Collected kCollected[] = {
    {"dmesg", "[    0.000000] Linux version 6.1\n[   12.500000] eth0: link down\n"},
    {"dmesg of a console",
     "<6>[    0.000000] Linux version 6.1\n<3>[   12.500000] eth0: link down\n"},
    {"a syslog's file",
     "Sep  9 08:40:47 web kernel: [    0.000000] Linux version 6.1\n"
     "Sep  9 08:40:59 web kernel: [   12.500000] eth0: link down\n"},
    {"journalctl",
     "2024-09-09T08:40:47.000000+0200 web kernel: Linux version 6.1\n"
     "2024-09-09T08:40:59.500000+0200 web kernel: eth0: link down\n"},
};

TEST(KernelText, IsTheSameHoweverItWasCollected) {
  for (const Collected& it : kCollected) {
    const KernelText text = kernel_text(it.log);
    ASSERT_EQ(text.lines.size(), 2U) << it.how;
    EXPECT_EQ(text.lines[1].text, "eth0: link down") << it.how;
    EXPECT_EQ(text.lines[1].since, 12'500ms) << it.how;
  }
}

TEST(KernelText, LeavesOutWhatTellsTheDay) {
  const KernelText log = kernel_text(
      "[    2.400000] rtc_cmos 00:03: setting system clock to 2021-01-01T00:00:00 UTC\n"
      "[    3.000000] audit: type=2000 audit(1609459200.1:1): initialized\n");
  EXPECT_THAT(log.lines, IsEmpty());
}

TEST(KernelText, IsToldAgainAtItsPlaceInTime) {
  const KernelText log = kernel_text(kCollected[0].log);
  const Timestamp begins = simulation::beginning_of(1);  // 5 March 2026, 02:00
  EXPECT_THAT(told_again(log, "gpu-node-1", Placed::today, begins, 1),
              HasSubstr("2026-03-05T01:00:12+0000 gpu-node-1 kernel: eth0: link down\n"));
  EXPECT_THAT(told_again(log, "gpu-node-1", Placed::days_before, begins, 0),
              HasSubstr("[Tue Mar  3 02:00:00 2026] eth0: link down\n"));
  EXPECT_THAT(told_again(log, "gpu-node-1", Placed::hours_before, begins, 2),
              HasSubstr("Mar  4 20:00:00 gpu-node-1 kernel: eth0: link down\n"));
  EXPECT_THAT(told_again(log, "gpu-node-1", Placed::undated, begins, 0),
              HasSubstr("[   12.500000] eth0: link down\n"));
  EXPECT_THAT(told_again(log, "gpu-node-1", Placed::during, begins, 0),
              Not(HasSubstr("Linux version")));
}

}  // namespace
}  // namespace faultline::accuracy
