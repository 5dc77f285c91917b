// GPUs and their NVLinks as tools tell of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tool_reports.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct GpuCase {
  const char* why;
  const char* cause;
  Named sick;
  Named well;
};

TEST(GpuConditions, AreToldFromTheirHealthyTwins) {
  const GpuCase cases[] = {
      {"uncorrectable errors",
       "gpu.ecc_uncorrectable",
       {{"ECC Errors / Volatile / DRAM Uncorrectable", "1"}},
       {{"ECC Errors / Volatile / DRAM Uncorrectable", "0"},
        {"ECC Errors / Volatile / DRAM Correctable", "214"},
        {"ECC Errors / Aggregate / DRAM Uncorrectable", "3"}}},
      {"a remapping is pending",
       "gpu.row_remap",
       {{"Remapped Rows / Pending", "Yes"}},
       {{"Remapped Rows / Pending", "No"}, {"Remapped Rows / Uncorrectable Error", "2"}}},
      {"a remapping failed",
       "gpu.row_remap",
       {{"Remapped Rows / Remapping Failure Occurred", "Yes"}},
       {{"Remapped Rows / Remapping Failure Occurred", "No"}}},
      {"pages wait to be retired",
       "gpu.row_remap",
       {{"Retired Pages / Pending Page Blacklist", "Yes"}},
       {{"Retired Pages / Pending Page Blacklist", "No"}, {"Retired Pages / Double Bit ECC", "5"}}},
      {"slowed by its power supply",
       "gpu.thermal",
       {{"Clocks Event Reasons / HW Slowdown / HW Power Brake Slowdown", "Active"},
        {"Utilization / Gpu", "100 %"}},
       {{"Clocks Event Reasons / HW Slowdown / HW Power Brake Slowdown", "Not Active"},
        {"Clocks Event Reasons / SW Power Cap", "Active"},
        {"Utilization / Gpu", "100 %"}}},
      {"slowed by heat",
       "gpu.thermal",
       {{"Clocks Throttle Reasons / HW Thermal Slowdown", "Active"}, {"Utilization / Gpu", "98 %"}},
       {{"Clocks Throttle Reasons / HW Thermal Slowdown", "Active"}, {"Utilization / Gpu", "0 %"}}},
      {"a narrow PCIe link",
       "pcie.degraded",
       {{"PCI / GPU Link Info / Link Width / Current", "8x"},
        {"PCI / GPU Link Info / Link Width / Max", "16x"}},
       {{"PCI / GPU Link Info / Link Width / Current", "16x"},
        {"PCI / GPU Link Info / Link Width / Max", "16x"}}},
      {"a slow PCIe link under load",
       "pcie.degraded",
       {{"PCI / GPU Link Info / PCIe Generation / Current", "1"},
        {"PCI / GPU Link Info / PCIe Generation / Max", "5"},
        {"Utilization / Gpu", "100 %"}},
       {{"PCI / GPU Link Info / PCIe Generation / Current", "1"},
        {"PCI / GPU Link Info / PCIe Generation / Max", "5"},
        {"Utilization / Gpu", "0 %"}}},
      {"outside its fabric",
       "gpu.nvswitch_error",
       {{"Fabric / State", "In Progress"}},
       {{"Fabric / State", "Completed"}, {"Fabric / Status", "Success"}}},
      {"not on an NVSwitch",
       "gpu.nvswitch_error",
       {{"Fabric / Status", "System not yet initialized"}},
       {{"Fabric / State", "N/A"}, {"Fabric / Status", "N/A"}}},
      {"asks for a reset",
       "gpu.hang",
       {{"GPU Recovery Action", "Reset"}},
       {{"GPU Recovery Action", "None"},
        {"GPU Reset Status / Reset Required", "Requested functionality has been deprecated"}}},
      {"lost", "gpu.off_bus", {{"power.draw", "[GPU is lost]"}}, {{"power.draw", "[N/A]"}}},
  };
  for (const GpuCase& one : cases) {
    Job sick = sixteen_ranks();
    sick.part("node-1", gpu(Job::gpu_of(11), one.sick));
    const Diagnosis diagnosis = sick.diagnosis();
    ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre(one.cause)) << one.why;
    const Finding& finding = diagnosis.root_causes.front();
    EXPECT_THAT(finding.subject.ranks, ElementsAre(11)) << one.why;
    EXPECT_THAT(finding.subject.gpus, ElementsAre("node-1/" + Job::gpu_of(11))) << one.why;
    EXPECT_FALSE(finding.actions.empty()) << one.why;
    EXPECT_THAT(finding.title, Not(HasSubstr("{"))) << one.why;

    Job well = sixteen_ranks();
    well.part("node-1", gpu(Job::gpu_of(11), one.well));
    EXPECT_EQ(well.diagnosis().verdict, Verdict::healthy) << one.why;

    Job bystander = sixteen_ranks();
    bystander.part("node-1", gpu("0000:aa:00.0", one.sick));
    const Diagnosis other = bystander.diagnosis();
    EXPECT_THAT(other.root_causes, IsEmpty()) << one.why;
    EXPECT_THAT(causes(other.observations), ElementsAre(one.cause)) << one.why;
  }
}

// The kernel says it when the driver is loaded, which alone accuses nobody.
TEST(GpuConditions, WhatAToolAndTheKernelSayOfOnePartWeighsAsTheGraverOfTheTwo) {
  Job job = sixteen_ranks();
  job.kernel("node-1",
             "nvidia " + Job::gpu_of(11) +
                 ": 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at "
                 "0000:0a:01.0 (capable of 252.048 Gb/s with 16.0 GT/s PCIe x16 link)");
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
  job.part("node-1", gpu(Job::gpu_of(11), {{"PCI / GPU Link Info / Link Width / Max", "16x"},
                                           {"PCI / GPU Link Info / Link Width / Current", "8x"}}));
  EXPECT_THAT(causes(job.diagnosis().root_causes), ElementsAre("pcie.degraded"));
}

TEST(GpuConditions, OfCsvAreThoseOfTheReport) {
  Job job = sixteen_ranks();
  job.part("node-1", gpu(Job::gpu_of(11),
                         {{"clocks_event_reasons.active", "0x0000000000000080"},
                          {"utilization.gpu", "100 %"}},
                         "nvidia-smi-csv"));
  EXPECT_THAT(causes(job.diagnosis().root_causes), ElementsAre("gpu.thermal"));
  Job healthy = sixteen_ranks();
  healthy.part("node-1", gpu(Job::gpu_of(11),
                             {{"clocks_event_reasons.active", "0x0000000000000004"},
                              {"utilization.gpu", "100 %"},
                              {"ecc.errors.uncorrected.volatile.total", "0"},
                              {"pcie.link.width.current", "16"},
                              {"pcie.link.width.max", "16"}},
                             "nvidia-smi-csv"));
  EXPECT_EQ(healthy.diagnosis().verdict, Verdict::healthy);
}

TEST(GpuConditions, OfDcgmAreKeyedToTheGpuByItsNumber) {
  const auto diag = [](const std::string& result) {
    return PartReport{.tool = "dcgmi-diag",
                      .kind = "gpu",
                      .names = {{"index", "3"}},
                      .values = {{"GPU Memory", result}, {"Persistence Mode", "Fail"}}};
  };
  Job remap = sixteen_ranks();
  remap.part("node-1", {.tool = "dcgmi-diag",
                        .kind = "gpu",
                        .names = {{"index", "3"}},
                        .values = {{"Page Retirement/Row Remap", "Fail"}}});
  EXPECT_THAT(causes(remap.diagnosis().root_causes), ElementsAre("gpu.row_remap"));
  Job job = sixteen_ranks();
  job.part("node-1", diag("Fail"));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.ecc_uncorrectable"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(11));
  Job healthy = sixteen_ranks();
  healthy.part("node-1", diag("Pass"));
  EXPECT_EQ(healthy.diagnosis().verdict, Verdict::healthy);
}

TEST(GpuConditions, StopTheRankThatIsBehindOnThatGpu) {
  Job job;
  job.join_all(16);
  job.call(ranks(0, 16), all_reduce(), 100);
  job.call(all_but(11, 16), all_reduce());
  job.part("node-1", gpu(Job::gpu_of(11), {{"ECC Errors / Volatile / DRAM Uncorrectable", "1"}}));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.ecc_uncorrectable"));
  EXPECT_THAT(causes(diagnosis.symptoms), ElementsAre("collective.rank_behind"));
}

TEST(GpuConditions, AreSurerWhereAnEarlierSampleWasClean) {
  Job job = sixteen_ranks();
  job.part("node-1", gpu(Job::gpu_of(11), {{"ECC Errors / Volatile / DRAM Uncorrectable", "1"}}),
           at(kHour));
  const double once = job.diagnosis().root_causes.front().confidence;
  job.part("node-1", gpu(Job::gpu_of(11), {{"ECC Errors / Volatile / DRAM Uncorrectable", "0"}}),
           at(0));
  EXPECT_GT(job.diagnosis().root_causes.front().confidence, once);
}

PartReport nvlink(int gpu, int link, const Named& values) {
  return {.tool = "nvidia-smi-nvlink",
          .kind = "nvlink",
          .names = {{"index", std::to_string(gpu)},
                    {"uuid", fmt::format("GPU-{}", gpu)},
                    {"link", std::to_string(link)}},
          .values = values};
}

TEST(NvLinks, ThatAreInactiveOnOneGpuAloneAreFaulty) {
  Job job = sixteen_ranks();
  for (int gpu = 0; gpu < 4; ++gpu)
    for (int link = 0; link < 6; ++link)
      job.part(
          "node-1",
          nvlink(gpu, link, {{"Status", gpu == 3 && link == 5 ? "<inactive>" : "26.562 GB/s"}}));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.nvlink_error"));
  // NCCL counts this GPU as nvidia-smi does.
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(11));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("NVLink 5 of GPU 0000:13:00.0"));
}

TEST(NvLinks, ThatAreInactiveOnAllGpusAreNotWired) {
  Job job = sixteen_ranks();
  for (int gpu = 0; gpu < 4; ++gpu)
    for (int link = 0; link < 6; ++link)
      job.part("node-1", nvlink(gpu, link, {{"Status", link >= 4 ? "<inactive>" : "26.562 GB/s"}}));
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

TEST(NvLinks, ThatRecoverAgainAndAgainAreNamed) {
  Job job = sixteen_ranks();
  job.part("node-1", nvlink(3, 1, {{"Recovery Errors", "1"}, {"CRC Errors", "9"}}), at(0));
  job.part("node-1", nvlink(3, 1, {{"Recovery Errors", "500"}, {"CRC Errors", "9"}}), at(kHour));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.nvlink_error"));
  EXPECT_THAT(diagnosis.root_causes.front().title,
              HasSubstr("link 1: Recovery Errors rose by 499 in 1.0 h"));
  Job healthy = sixteen_ranks();
  healthy.part("node-1", nvlink(3, 1, {{"Recovery Errors", "500"}, {"CRC Errors", "90000"}}),
               at(0));
  healthy.part("node-1", nvlink(3, 1, {{"Recovery Errors", "500"}, {"CRC Errors", "90000"}}),
               at(kHour));
  EXPECT_EQ(healthy.diagnosis().verdict, Verdict::healthy);
}

}  // namespace
}  // namespace faultline
