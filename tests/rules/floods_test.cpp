// Jobs of which a sender multiplied one kind of line: what matters comes last and is still named.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "job.h"

namespace faultline {
namespace {

constexpr int kThatMatter = 10;

bool is_told_of(const Diagnosis& diagnosis, std::string_view lines) {
  return std::ranges::any_of(diagnosis.missing_evidence, [&](const MissingEvidence& missing) {
    return missing.what.ends_with(lines) && missing.why.starts_with("more came than a job keeps");
  });
}

int findings_that_name(const Diagnosis& diagnosis, std::string_view host) {
  int count = 0;
  for (const auto* findings :
       {&diagnosis.root_causes, &diagnosis.symptoms, &diagnosis.observations})
    for (const Finding& finding : *findings)
      count += std::ranges::count(finding.subject.hosts, host) > 0 ? 1 : 0;
  return count;
}

TEST(Floods, OfXidsLeaveRoomForTheGpusThatFellOffTheBusAtTheEnd) {
  Job job;
  for (int i = 0; i < 20'000; ++i)
    job.xid("node-1", fmt::format("{:04x}:{:02x}:00.0", i / 256, i % 256), 31);
  for (int i = 0; i < kThatMatter; ++i) job.xid(fmt::format("bad-{}", i), "0000:1b:00.0", 79);
  const Diagnosis diagnosis = job.diagnosis();
  for (int i = 0; i < kThatMatter; ++i)
    EXPECT_GT(findings_that_name(diagnosis, fmt::format("bad-{}", i)), 0) << i;
  EXPECT_TRUE(is_told_of(diagnosis, "Xid lines"));
}

TEST(Floods, OfKernelLinesLeaveRoomForTheOneThatMatters) {
  Job job;
  for (int i = 0; i < 2'000; ++i)
    job.kernel("node-1",
               fmt::format("pcieport root port word{}x: AER: Multiple Corrected error", i));
  job.kernel("node-1", "Out of memory: Killed process 4711 (python3) total-vm:1kB, anon-rss:1kB");
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_GT(findings_that_name(diagnosis, "node-1"), 0);
  EXPECT_TRUE(is_told_of(diagnosis, "kernel lines"));
}

TEST(Floods, OfWarningsLeaveRoomForTheOneThatTellsTheCauseAndAreNeverHealthy) {
  Job job;
  job.join_all(2);
  job.call({0, 1}, all_reduce(), 10);
  for (int i = 0; i < 2'000; ++i)
    job.warn(1, fmt::format("Call to thing{0} failed : reason {0}", i));
  job.warn(1, "NET/IB : mlx5_2:1 Got async event : port error");
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_TRUE(is_told_of(diagnosis, "warnings of processes"));
  EXPECT_NE(diagnosis.verdict, Verdict::healthy);
  const bool port_is_named =
      std::ranges::any_of(job.state.remarks().processes().front().said, [](const SaidRemark& said) {
        return said.remark.text.find("port error") != std::string::npos;
      });
  EXPECT_TRUE(port_is_named);
}

}  // namespace
}  // namespace faultline
