// The stack that a kernel prints below a crash or a hang.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "job.h"
#include "model/kernel_frame.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kHang = "ixgbe 0000:04:00.0 eth2: Detected Tx Unit Hang";
constexpr const char* kCrash = "kernel BUG at net/core/skbuff.c:113!";
constexpr const char* kPanic = "Kernel panic - not syncing: Fatal exception in interrupt";

std::string frame(const std::string& function, const std::string& module) {
  return " " + function + "+0x1c2/0x6f0 [" + module + "]";
}

void report(Job& job, const std::string& host, const std::string& line, double second) {
  const std::string place(kernel_frame_in(line) ? kKernelStack : "");
  job.say(Job::kernel_of(host), Speaker{},
          Remark{.dialect = "kernel", .place = place, .text = line}, line,
          EventTime::since_boot(static_cast<std::int64_t>(second * 1e6)));
}

// What a host's kernel says, a line each second, in an hour of a job of nobody.
Diagnosis told_by_kernel(const std::vector<std::string>& lines) {
  Job job;
  double second = 3600;
  for (const std::string& line : lines) report(job, "node-0", line, second++);
  return job.diagnosis();
}

std::string first_title(const std::vector<std::string>& lines) {
  const Diagnosis diagnosis = told_by_kernel(lines);
  return diagnosis.root_causes.empty() ? "" : diagnosis.root_causes.front().title;
}

TEST(KernelStacks, ACrashIsToldWithTheModuleInWhichTheKernelWas) {
  EXPECT_THAT(first_title({kCrash, frame("ptlrpc_queue_wait", "ptlrpc"), frame("ll_open", "lustre"),
                           kPanic}),
              HasSubstr("in ptlrpc_queue_wait of module ptlrpc"));
  EXPECT_THAT(first_title({kCrash, "RIP: 0010:nv_open_device+0x12/0x90 [nvidia]", kPanic}),
              HasSubstr("in nv_open_device of module nvidia"));
  EXPECT_THAT(first_title({kCrash, frame("spl_panic", "spl"), frame("zio_done", "zfs"), kPanic}),
              HasSubstr("in zio_done of module zfs"));
  EXPECT_THAT(first_title({kCrash, kPanic}), Not(HasSubstr("module")));
}

TEST(KernelStacks, ATaskThatHangsIsToldWithItsOwnStackNotWithThatOfTheNext) {
  const auto hangs = [](const std::string& task) {
    return "INFO: task " + task + " blocked for more than 120 seconds.";
  };
  const std::string nfs = frame("nfs_wait_bit_killable", "nfs");
  EXPECT_THAT(first_title({hangs("python3:4100"), nfs}),
              HasSubstr("python3, process 4100, in nfs_wait_bit_killable of module nfs"));
  const Diagnosis two = told_by_kernel({hangs("python3:4100"), hangs("jbd2/dm-0-8:356"), nfs});
  for (const Finding& finding : findings_of(two))
    EXPECT_EQ(finding.title.find("of module nfs") != std::string::npos,
              finding.cause == Cause::host_storage_stall)
        << finding.title;
}

TEST(KernelStacks, AStackFarBelowOrOfAnotherHostIsOfSomethingElse) {
  std::vector<std::string> far{kCrash};
  far.resize(150, "usb 1-1: new high-speed USB device number 5 using xhci_hcd");
  far.push_back(frame("nfs_wait_bit_killable", "nfs"));
  EXPECT_THAT(first_title(far), Not(HasSubstr("module")));
  Job job;
  report(job, "node-0", kCrash, 3600);
  report(job, "node-1", frame("nfs_wait_bit_killable", "nfs"), 3600);
  for (const Finding& finding : job.diagnosis().root_causes)
    EXPECT_THAT(finding.title, Not(HasSubstr("module")));
}

TEST(KernelStacks, ACrashInTheDriverOfADeviceThatHungFollowsFromThat) {
  const Diagnosis diagnosis = told_by_kernel({kHang, kCrash, frame("ixgbe_poll", "ixgbe"), kPanic});
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("network.nic_failure"));
  EXPECT_THAT(causes(diagnosis.symptoms), ElementsAre("host.down"));
}

TEST(KernelStacks, ACrashElsewhereOrBeforeTheHangIsACauseOfItsOwn) {
  EXPECT_EQ(told_by_kernel({kHang, kCrash, frame("ext4_writepages", "ext4"), kPanic})
                .root_causes.front()
                .cause,
            Cause::host_down);
  EXPECT_EQ(told_by_kernel({kHang, kCrash, kPanic}).root_causes.front().cause, Cause::host_down);
  EXPECT_EQ(told_by_kernel({kCrash, frame("ixgbe_poll", "ixgbe"), kPanic, kHang})
                .root_causes.front()
                .cause,
            Cause::host_down);
}

}  // namespace
}  // namespace faultline
