// GPUs and their NVLinks as tools report them.
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
      {"a clock that is capped",
       "gpu.thermal",
       {{"Clocks / SM", "405 MHz"}, {"Max Clocks / SM", "1980 MHz"}, {"Utilization / Gpu", "99 %"}},
       {{"Clocks / SM", "405 MHz"}, {"Max Clocks / SM", "1980 MHz"}, {"Utilization / Gpu", "0 %"}}},
      {"a clock that is capped, in a table",
       "gpu.thermal",
       {{"clocks.current.sm", "600"}, {"clocks.max.sm", "1980"}, {"utilization.gpu", "100"}},
       {{"clocks.current.sm", "1410"}, {"clocks.max.sm", "1980"}, {"utilization.gpu", "100"}}},
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

// The kernel prints this line whenever the driver is loaded; the line alone accuses nobody.
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

// Without a job. Each GPU of a rank has a finding of its own, with the line that ties it.
TEST(GpuConditions, WhatAllGpusOfAListShowAlikeIsOneFinding) {
  const auto errors = [](const std::string& count) {
    return Named{{"ECC Errors / Volatile / DRAM Uncorrectable", count}};
  };
  const auto causes_with = [&](const std::vector<std::string>& counts, Job job) {
    for (std::size_t i = 0; i < counts.size(); ++i)
      job.part("node-1", gpu(Job::gpu_of(8 + static_cast<int>(i)), errors(counts[i])));
    return job.diagnosis().root_causes;
  };
  const std::vector<Finding> one = causes_with({"2", "2", "2", "2"}, Job());
  ASSERT_THAT(causes(one), ElementsAre("gpu.ecc_uncorrectable"));
  EXPECT_THAT(one.front().title, HasSubstr("the same on the 3 other GPUs of the list"));
  EXPECT_THAT(one.front().subject.gpus, testing::SizeIs(4));
  EXPECT_THAT(one.front().evidence, testing::SizeIs(4));
  EXPECT_EQ(one.front().count, 4U);
  for (const std::vector<std::string>& unlike : std::vector<std::vector<std::string>>{
           {"2", "2", "2", "0"}, {"2", "2", "5000", "2"}, {"2", "2"}})
    for (const Finding& finding : causes_with(unlike, Job())) {
      EXPECT_THAT(finding.title, Not(HasSubstr("the same on")));
      EXPECT_THAT(finding.subject.gpus, testing::SizeIs(1));
    }
  for (const Finding& finding : causes_with({"2", "2", "2", "2"}, sixteen_ranks()))
    EXPECT_THAT(finding.subject.ranks, testing::SizeIs(1));
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

TEST(GpuConditions, OfXmlAreThoseOfTheReport) {
  const std::pair<Named, std::string> cases[] = {
      {{{"ecc_errors / volatile / dram_uncorrectable", "2"}}, "gpu.ecc_uncorrectable"},
      {{{"remapped_rows / remapped_row_pending", "Yes"}}, "gpu.row_remap"},
      {{{"remapped_rows / remapped_row_failure", "Yes"}}, "gpu.row_remap"},
      {{{"gpu_recovery_action", "Reset"}}, "gpu.hang"},
      {{{"fabric / state", "In Progress"}}, "gpu.nvswitch_error"},
      {{{"utilization / gpu_util", "98 %"},
        {"clocks_event_reasons / clocks_event_reason_hw_slowdown", "Active"}},
       "gpu.thermal"},
      {{{"pci / pci_gpu_link_info / link_widths / max_link_width", "16x"},
        {"pci / pci_gpu_link_info / link_widths / current_link_width", "8x"}},
       "pcie.degraded"}};
  for (const auto& [values, cause] : cases) {
    Job job = sixteen_ranks();
    job.part("node-0", gpu(Job::gpu_of(3), values, "nvidia-smi-xml"));
    const std::vector<Finding> found = findings_of(job.diagnosis());
    ASSERT_THAT(causes(found), ElementsAre(cause)) << values.front().name;
    EXPECT_THAT(found.front().subject.ranks, ElementsAre(3));
  }
  Job healthy = sixteen_ranks();
  healthy.part("node-0",
               gpu(Job::gpu_of(3),
                   {{"ecc_errors / volatile / dram_uncorrectable", "0"},
                    {"remapped_rows / remapped_row_pending", "No"},
                    {"gpu_recovery_action", "None"},
                    {"fabric / state", "Completed"},
                    {"fabric / status", "Success"},
                    {"clocks_event_reasons / clocks_event_reason_hw_slowdown", "Not Active"},
                    {"retired_pages / pending_retirement", "N/A"}},
                   "nvidia-smi-xml"));
  EXPECT_EQ(healthy.diagnosis().verdict, Verdict::healthy);
}

TEST(HealthChecks, NameThePartThatFailedThem) {
  const auto check = [](const std::string& kind, const Named& names, const std::string& name,
                        const std::string& said) {
    return PartReport{.tool = "nhc", .kind = kind, .names = names, .values = {{name, said}}};
  };
  Job port = sixteen_ranks();
  port.part("node-1", check("port", {{"device", "mlx5_3"}, {"port", "1"}}, "check_hw_ib",
                            "No IB port mlx5_3:1 is ACTIVE (LinkUp 400 Gb/sec)."));
  ASSERT_THAT(causes(port.diagnosis().root_causes), ElementsAre("network.link_down"));
  EXPECT_THAT(port.diagnosis().root_causes.front().subject.nics, ElementsAre("node-1/mlx5_3:1"));

  Job memory = sixteen_ranks();
  memory.part("node-1", check("gpu", {{"index", "3"}}, "check_gpu_ecc",
                              "GPU id 3: SRAM Uncorrectable ECC error count detected, (1,1)"));
  ASSERT_THAT(causes(memory.diagnosis().root_causes), ElementsAre("gpu.ecc_uncorrectable"));
  EXPECT_THAT(memory.diagnosis().root_causes.front().subject.ranks, ElementsAre(11));

  Job unrelated = sixteen_ranks();
  unrelated.part("node-1", check("host", {}, "check_fs_mount", "/scratch not mounted"));
  EXPECT_EQ(unrelated.diagnosis().verdict, Verdict::healthy);
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

TEST(GpuConditions, ACheckOfMemoryThatCouldNotRunSaysNothingOfTheMemory) {
  Job busy = sixteen_ranks();
  busy.part("node-1",
            {.tool = "dcgmi-diag",
             .kind = "gpu",
             .names = {{"index", "3"}},
             .values = {{"GPU Memory", "Fail"},
                        {"GPU Memory / Warning",
                         "GPU 3 Error using CUDA API cuCtxCreate Check DCGM and system logs for "
                         "errors. Unable to create CUDA context: 'CUDA-capable device(s) is/are "
                         "busy or unavailable'."}}});
  const Finding found = findings_of(busy.diagnosis()).front();
  EXPECT_EQ(found.cause, Cause::gpu_hang);
  EXPECT_THAT(found.title, testing::HasSubstr("busy or unavailable"));
  // What another test notes says nothing of it.
  Job failed = sixteen_ranks();
  failed.part("node-1", {.tool = "dcgmi-diag",
                         .kind = "gpu",
                         .names = {{"index", "3"}},
                         .values = {{"GPU Memory", "Fail"},
                                    {"GPU Memory / Warning", "GPU 3 had 12 double bit errors."},
                                    {"PCIe / Warning", "cuCtxCreate: busy or unavailable"}}});
  EXPECT_THAT(causes(findings_of(failed.diagnosis())), testing::Contains("gpu.ecc_uncorrectable"));
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
  // NCCL and nvidia-smi give this GPU the same number.
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
