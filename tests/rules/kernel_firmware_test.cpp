// Error records that the firmware hands to the kernel. The lines of a record are one finding about
// the part that they name; records of an earlier boot belong to the past.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "job.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kStart = 1'800'000'000;

// Seconds after the job began, on a host that had been up for `up` seconds then.
EventTime up_at(double second, double up = 86'400) {
  const auto us = static_cast<std::int64_t>(second * 1e6);
  EventTime time = EventTime::at(Timestamp(std::chrono::microseconds(kStart * 1'000'000LL + us)));
  time.uptime_us = static_cast<std::int64_t>(up * 1e6) + us;
  return time;
}

// NCCL's lines have no uptime.
EventTime without_uptime(EventTime time) {
  time.uptime_us.reset();
  return time;
}

void record(Job& job, int number, double second, const std::vector<std::string>& lines) {
  for (const std::string& line : lines)
    job.kernel("node-0", fmt::format("{{{}}}[Hardware Error]: {}", number, line), up_at(second));
}

TEST(FirmwareRecords, OfMemoryAreOneFindingWithAllTheirLines) {
  Job job = sixteen_ranks(10, up_at(0));
  record(job, 1, 50,
         {"Hardware error from APEI Generic Hardware Error Source: 4", "event severity: fatal",
          "  section_type: memory error", "  error_type: 3, multi-bit ECC"});
  const std::vector<Finding> found = findings_of(job.diagnosis());
  ASSERT_THAT(causes(found), ElementsAre("host.memory_error"));
  EXPECT_EQ(found.front().severity, Severity::critical);
  EXPECT_EQ(found.front().evidence.size(), 2U);
}

TEST(FirmwareRecords, OfACorrectedErrorBlamesNoDimm) {
  const auto blamed = [](const std::string& severity) {
    Job job = sixteen_ranks(10, up_at(0));
    record(job, 3, 50,
           {"event severity: " + severity, "  section_type: memory error",
            "  error_type: 4, single-symbol chipkill ECC", "  DIMM location: CPU 1 DIMM 5"});
    const std::vector<Finding> found = findings_of(job.diagnosis());
    return std::ranges::any_of(
        found, [](const Finding& f) { return f.title.find("CPU 1 DIMM 5") != std::string::npos; });
  };
  EXPECT_FALSE(blamed("corrected"));
  EXPECT_TRUE(blamed("recoverable"));
}

TEST(FirmwareRecords, OfPcieAreTheDevicesAndNotTheMemorys) {
  Job job = sixteen_ranks(10, up_at(0));
  record(job, 4, 50,
         {"event severity: recoverable", "  section_type: PCIe error",
          fmt::format("  device_id: {}", Job::gpu_of(3))});
  const std::vector<Finding> found = findings_of(job.diagnosis());
  ASSERT_THAT(causes(found), ElementsAre("pcie.error"));
  EXPECT_THAT(found.front().subject.ranks, ElementsAre(3));
}

TEST(FirmwareRecords, ThatWereCorrectedAreHarmless) {
  Job job = sixteen_ranks(10, up_at(0));
  record(job, 7, 50,
         {"event severity: corrected", "  section_type: PCIe error",
          fmt::format("  device_id: {}", Job::gpu_of(3))});
  EXPECT_THAT(findings_of(job.diagnosis()), IsEmpty());
}

TEST(FirmwareRecords, AreToldApartByTheirNumbers) {
  Job job = sixteen_ranks(10, up_at(0));
  record(job, 1, 40,
         {"event severity: corrected", "  section_type: PCIe error",
          fmt::format("  device_id: {}", Job::gpu_of(3))});
  record(job, 2, 50, {"event severity: fatal", "  section_type: memory error"});
  EXPECT_THAT(causes(findings_of(job.diagnosis())), ElementsAre("host.memory_error"));
}

TEST(FirmwareRecords, OfTheBootBeforeAreThePastForAJobThatBeganLater) {
  Job job = sixteen_ranks(10, without_uptime(up_at(0)));
  job.kernel("node-0", "BERT: Error records from previous boot:", up_at(-600, 603));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  ASSERT_THAT(causes(diagnosis.observations), ElementsAre("host.down"));
  EXPECT_THAT(diagnosis.observations.front().title, HasSubstr("before the job began"));
}

TEST(FirmwareRecords, OfTheBootInWhichTheJobRanSayWhyItsHostWentDown) {
  Job job;
  job.clock = without_uptime(up_at(0));
  job.join_all(16);
  job.clock = without_uptime(up_at(60));
  job.call(ranks(0, 16), all_reduce(), 20);
  job.call(ranks(8, 16), all_reduce());
  job.boot("node-0", up_at(400, -400));
  job.kernel("node-0", "BERT: Error records from previous boot:", up_at(401, -400));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_FALSE(diagnosis.root_causes.empty());
  EXPECT_EQ(diagnosis.root_causes.front().cause, "host.down");
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, ElementsAre("node-0"));
}

}  // namespace
}  // namespace faultline
