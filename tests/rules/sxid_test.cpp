// What the kernels say of NVSwitches, in jobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

EventTime up(double second) {
  return EventTime::since_boot(static_cast<std::int64_t>(second * 1e6));
}

void report(Job& job, const std::string& host, int code, double second,
            const std::string& printed = "", const std::string& detail = "an error",
            std::optional<int> link = 12, const std::string& nvswitch = "0000:c1:00.0") {
  job.say(Job::kernel_of(host), Speaker{},
          SwitchError{.nvswitch = nvswitch,
                      .code = code,
                      .printed = printed,
                      .link = link,
                      .detail = detail,
                      .teller = "driver"},
          fmt::format("SXid {}", code), up(second));
}

TEST(Sxids, EveryCodeGivesItsClassSeverityAndAction) {
  static const Catalog catalog = load_catalog();
  ASSERT_EQ(catalog.sxids.size(), 400U);
  for (const auto& [code, meaning] : catalog.sxids) {
    SCOPED_TRACE(code);
    Job job = sixteen_ranks();
    report(job, "node-0", code, 100, meaning.printed == "either" ? "Fatal" : meaning.printed);
    const std::vector<Finding> found = findings_of(job.diagnosis());
    ASSERT_THAT(causes(found), ElementsAre(name_of(meaning.cause)));
    EXPECT_EQ(found[0].severity, meaning.severity);
    EXPECT_THAT(found[0].title, HasSubstr(fmt::format("SXid {}", code)));
    EXPECT_THAT(actions_of(found[0]), HasSubstr(meaning.action));
    EXPECT_THAT(actions_of(found[0]), HasSubstr(meaning.escalation));
  }
}

TEST(Sxids, TheWordNonFatalDoesNotSaveTheJob) {
  for (const int code : {12028, 11004}) {
    Job job = sixteen_ranks();
    report(job, "node-0", code, 100, "Non-fatal");
    const Diagnosis diagnosis = job.diagnosis();
    ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.nvswitch_error")) << code;
    EXPECT_THAT(actions_of(diagnosis.root_causes.front()), HasSubstr("Do not trust the word"));
    EXPECT_EQ(diagnosis.root_causes.front().subject.ranks, ranks(0, 8));
  }
}

TEST(Sxids, ARefusedRequestLeadsToTheSettingsOfTheFabricManagerNotToTheHardware) {
  Job refused = sixteen_ranks();
  report(refused, "node-0", 11004, 100, "Non-fatal");
  const Finding settings = refused.diagnosis().root_causes.front();
  EXPECT_THAT(settings.title, HasSubstr("node-0 refuse what GPUs send"));
  EXPECT_THAT(actions_of(settings), Not(HasSubstr("diagnostics")));
  report(refused, "node-0", 12028, 101, "Fatal");
  const Finding both = refused.diagnosis().root_causes.front();
  EXPECT_THAT(both.title, HasSubstr("fabric of node-0 failed"));
  EXPECT_THAT(actions_of(both), HasSubstr("field diagnostics on the baseboard"));
}

TEST(Sxids, WhereTheDriverDecidesWhenItPrintsItsWordCounts) {
  Job fatal = sixteen_ranks();
  report(fatal, "node-0", 24007, 100, "Fatal");
  EXPECT_THAT(causes(fatal.diagnosis().root_causes), ElementsAre("gpu.nvswitch_error"));
  Job survived = sixteen_ranks();
  report(survived, "node-0", 24007, 100, "Non-fatal");
  EXPECT_EQ(survived.diagnosis().verdict, Verdict::healthy);
  EXPECT_THAT(causes(survived.diagnosis().observations), ElementsAre("gpu.nvswitch_error"));
}

TEST(Sxids, WhatNvidiaIgnoresFailsNoJob) {
  for (const int code : {20001, 22013, 20035, 10005}) {
    Job job = sixteen_ranks();
    report(job, "node-0", code, 100, "Fatal");
    EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy) << code;
  }
}

TEST(Sxids, LinksThatGoWithALostGpuAreItsEcho) {
  Job job = sixteen_ranks();
  job.xid("node-0", Job::gpu_of(3), 79, up(100));
  for (int link = 30; link < 34; ++link)
    report(job, "node-0", 20034, 112, "Fatal", "LTSSM Fault Up", link,
           fmt::format("0000:c{}:00.0", link - 29));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.off_bus"));
  EXPECT_THAT(causes(diagnosis.symptoms), ElementsAre("gpu.nvswitch_error"));
}

TEST(Sxids, AnEchoIsOneAlsoWhereNoLineNamesTheHost) {
  Job job;
  job.xid("", "0000:91:00.0", 79, up(100));
  report(job, "", 20034, 112, "Fatal", "LTSSM Fault Up", 30);
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.off_bus"));
  EXPECT_THAT(causes(diagnosis.symptoms), ElementsAre("gpu.nvswitch_error"));
}

TEST(Sxids, TheSwitchIsTheOriginOfWhatItsGpusSayInTheSameSecond) {
  Job job = sixteen_ranks();
  job.xid("node-0", Job::gpu_of(3), 74, up(99.4));
  report(job, "node-0", 24007, 100, "Fatal", "sourcetrack timeout error");
  for (int rank = 0; rank < 8; ++rank) job.xid("node-0", Job::gpu_of(rank), 45, up(103));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.nvswitch_error"));
  EXPECT_THAT(causes(diagnosis.symptoms),
              testing::UnorderedElementsAre("gpu.nvlink_error", "gpu.teardown"));
}

TEST(Sxids, RegistersOfAnErrorAreNoFurtherErrors) {
  Job job = sixteen_ranks();
  report(job, "node-0", 12028, 100, "Non-fatal");
  for (int line = 0; line < 2; ++line)
    job.say(Job::kernel_of("node-0"), Speaker{},
            SwitchError{.nvswitch = "0000:c1:00.0",
                        .code = 12028,
                        .detail = "Data {0x0}",
                        .goes_on = true,
                        .teller = "driver"},
            "SXid", up(100.0001));
  EXPECT_EQ(findings_of(job.diagnosis()).front().count, 1U);
}

TEST(Sxids, ASwitchThatCooledDownAgainIsNoFault) {
  Job job = sixteen_ranks();
  report(job, "node-0", 10004, 100, "", "NVSWITCH Temperature 96C | TSENSE WARN Threshold 95C", {});
  EXPECT_EQ(job.diagnosis().verdict, Verdict::slow);
  report(job, "node-0", 10005, 160, "", "Thermal slowdown Disengaged", {});
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

TEST(Sxids, AShutdownForHeatIsReadOffTheText) {
  Job job = sixteen_ranks();
  report(job, "node-0", 10004, 100, "", "PMGR OVERT Threshold reached. Shutting Down", {});
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.thermal"));
  EXPECT_EQ(diagnosis.root_causes.front().severity, Severity::critical);
}

TEST(Sxids, ASwitchOfAnotherHostIsABystander) {
  Job job = sixteen_ranks();
  report(job, "node-9", 12028, 100, "Non-fatal");
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy);
  ASSERT_THAT(causes(diagnosis.observations), ElementsAre("gpu.nvswitch_error"));
  EXPECT_FALSE(diagnosis.observations.front().part_of_job);
}

}  // namespace
}  // namespace faultline
