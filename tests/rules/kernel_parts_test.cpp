// Which part a line of the kernel is about, and which parts failed together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

EventTime in_second(double second) {
  return EventTime::at(Timestamp(std::chrono::microseconds(
      std::int64_t{1'800'000'000} * 1'000'000 + static_cast<std::int64_t>(second * 1e6))));
}

Finding first_of(const Diagnosis& diagnosis) {
  return diagnosis.root_causes.empty() ? Finding() : diagnosis.root_causes.front();
}

Finding first_with_disks(const std::vector<std::pair<std::string, double>>& failures) {
  Job job;
  for (const auto& [disk, second] : failures) {
    job.kernel("node-0", disk + ": reset failed, giving up", in_second(second));
    job.kernel("node-0", disk + ".00: disabled", in_second(second));
  }
  job.kernel("node-0", "blk_update_request: I/O error, dev sde, sector 77 op 0x0:(READ) flags 0x0",
             in_second(1));
  return first_of(job.diagnosis());
}

TEST(KernelParts, DisksThatFailTogetherAreToldTogetherWithWhatTheyMayShare) {
  const Finding together = first_with_disks({{"ata9", 0}, {"ata10", 120}, {"ata8", 900}});
  EXPECT_EQ(together.cause, Cause::host_storage_stall);
  EXPECT_THAT(together.title, HasSubstr("3 disks of the host failed within an hour"));
  EXPECT_THAT(together.title, HasSubstr("ata9, ata10, ata8"));
  EXPECT_THAT(together.title, HasSubstr("Disk sde of node-0 reads or writes with errors"));
  ASSERT_FALSE(together.actions.empty());
  EXPECT_THAT(together.actions.front().what, HasSubstr("share"));

  const std::string apart = "failed within an hour";
  EXPECT_THAT(first_with_disks({{"ata9", 0}, {"ata10", 5000}, {"ata8", 10000}}).title,
              Not(HasSubstr(apart)));
  EXPECT_THAT(first_with_disks({{"ata9", 0}, {"ata10", 120}}).title, Not(HasSubstr(apart)));
  // The one that failed long before is not counted.
  EXPECT_THAT(
      first_with_disks({{"ata1", 0}, {"ata9", 9000}, {"ata10", 9100}, {"ata8", 9200}}).title,
      HasSubstr("(ata9, ata10, ata8)"));
}

TEST(KernelParts, DisksThatFailInTheSameWayAtDifferentTimesAreToldTogether) {
  const Finding first = first_with_disks({{"ata9", 0}, {"ata10", 50'000}, {"ata8", 900'000}});
  EXPECT_THAT(first.title, HasSubstr("3 disks of the host failed in this way (ata10, ata8"));
  EXPECT_THAT(first_with_disks({{"ata9", 0}, {"ata10", 50'000}, {"ata9", 900'000}}).title,
              Not(HasSubstr("disks of the host")));
}

// Partitions and volumes are no disks, and what each of two boots says is not together.
TEST(KernelParts, DisksAreCountedByTheirDevicesWithinABoot) {
  const auto title_with = [](const std::vector<std::string>& disks, bool reboots = false) {
    Job job;
    double second = 100;
    for (const std::string& disk : disks) {
      if (reboots) job.boot("node-0", EventTime::since_boot(0));
      job.kernel("node-0",
                 fmt::format("blk_update_request: I/O error, dev {}, sector 77 op 0x0", disk),
                 EventTime::since_boot(static_cast<std::int64_t>(second++ * 1e6)));
    }
    return first_of(job.diagnosis()).title;
  };
  const std::string together = "failed within an hour";
  EXPECT_THAT(title_with({"sda", "sdb", "sdc"}), HasSubstr("(sda, sdb, sdc)"));
  EXPECT_THAT(title_with({"sda1", "sda2", "sda3"}), Not(HasSubstr(together)));
  EXPECT_THAT(title_with({"nvme0n1p1", "nvme0n1p2", "nvme0n1p3"}), Not(HasSubstr(together)));
  EXPECT_THAT(title_with({"dm-0", "dm-1", "dm-2"}), Not(HasSubstr(together)));
  EXPECT_THAT(title_with({"sda", "sdb", "sdc"}, true), Not(HasSubstr(together)));
}

TEST(KernelParts, OneDiskThatIsGivenUpMayBeUnusedAndSeveralAreToldWhereNoJobIsKnown) {
  const auto first_with = [](int disks) {
    Job job;
    for (int disk = 0; disk < disks; ++disk)
      job.kernel("node-0",
                 fmt::format("sd 6:0:{}:0: Device offlined - not ready after error recovery", disk),
                 in_second(disk));
    return first_of(job.diagnosis());
  };
  const Finding one = first_with(1);
  const Finding four = first_with(4);
  EXPECT_THAT(four.title, HasSubstr("4 disks of the host failed within an hour"));
  EXPECT_LT(one.confidence, 0.25);
  EXPECT_GT(four.confidence, 0.5);
}

TEST(KernelParts, APortThatCutOffADeviceWithoutANameDidNotCutOffItself) {
  Job job;
  job.kernel("node-0", "pcieport 0000:a9:10.0: DPC: unmasked uncorrectable error detected",
             in_second(0));
  const Finding finding = first_of(job.diagnosis());
  EXPECT_THAT(finding.title,
              HasSubstr("PCIe port 0000:a9:10.0 on node-0 cut off what it leads to"));
}

// The kernel names the GPU only in the next lines.
TEST(KernelParts, AProgramThatGaveAnAmdGpuInvalidCommandsExplainsTheRingThatHangs) {
  Job job;
  job.kernel("node-0",
             "[drm:gfx_v9_4_3_priv_reg_irq [amdgpu]] *ERROR* Illegal register access in command "
             "stream",
             in_second(0));
  job.kernel("node-0",
             "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx_0.0.0 timeout, signaled seq=77, "
             "emitted seq=79",
             in_second(0.1));
  job.kernel("node-0", "amdgpu 0000:0b:00.0: amdgpu: GPU reset begin!", in_second(0.2));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.gpu_memory_fault"));
  EXPECT_THAT(first_of(diagnosis).title,
              HasSubstr("A program gave GPU 0000:0b:00.0 on node-0 invalid commands"));
  EXPECT_THAT(causes(diagnosis.symptoms), ElementsAre("gpu.hang"));
}

TEST(KernelParts, CorrectedErrorsOfAPortAreNotGuessedToBeAFaultByTheirDetails) {
  Job job;
  const std::string port = "pcieport 0000:00:06.0: ";
  for (const char* line :
       {"AER: Corrected error message received from 0000:00:06.0",
        "PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)",
        "  device [8086:a74d] error status/mask=00001000/00002000", "   [12] Timeout"})
    job.kernel("node-0", port + line, in_second(0));
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
}

}  // namespace
}  // namespace faultline
