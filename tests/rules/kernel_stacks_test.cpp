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
  const bool of_stack = kernel_frame_in(line) || ends_kernel_stack(line);
  const std::string place(of_stack ? kKernelStack : "");
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

TEST(KernelStacks, WhatAnotherReportPrintsBelowIsNoneOfTheCrash) {
  const std::string other = frame("mlx5e_close", "mlx5_core");
  for (const char* begin :
       {"WARNING: CPU: 3 PID: 77 at drivers/net/dev.c:10 f+0x1/0x2", "NMI backtrace for cpu 3",
        "sysrq: Show Blocked State", "------------[ cut here ]------------",
        "---[ end trace 0000000000000000 ]---", "kworker: page allocation failure: order:3"})
    EXPECT_THAT(first_title({kCrash, begin, other, kPanic}), Not(HasSubstr("module"))) << begin;
  for (const char* cpu : {"14", "3"})
    EXPECT_EQ(first_title({"watchdog: BUG: soft lockup - CPU#14 stuck for 22s! [python3:4100]",
                           std::string("NMI backtrace for cpu ") + cpu, other})
                      .find("module") != std::string::npos,
              cpu == std::string("14"));
  Job late;
  report(late, "node-0", kCrash, 3600);
  report(late, "node-0", other, 3660);
  for (const Finding& finding : late.diagnosis().root_causes)
    EXPECT_THAT(finding.title, Not(HasSubstr("module")));
}

TEST(KernelStacks, ACrashInTheDriverOfANicThatHungFollowsFromThat) {
  const Diagnosis diagnosis = told_by_kernel({kHang, kCrash, frame("ixgbe_poll", "ixgbe"), kPanic});
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("network.nic_failure"));
  EXPECT_THAT(causes(diagnosis.symptoms), ElementsAre("host.down"));
}

TEST(KernelStacks, ACrashElsewhereOrBeforeTheHangOrLongAfterItIsACauseOfItsOwn) {
  const auto first = [](const std::vector<std::string>& lines) {
    return told_by_kernel(lines).root_causes.front().cause;
  };
  EXPECT_EQ(first({kHang, kCrash, frame("ext4_writepages", "ext4"), kPanic}), Cause::host_down);
  EXPECT_EQ(first({kHang, kCrash, kPanic}), Cause::host_down);
  EXPECT_EQ(first({kCrash, frame("ixgbe_poll", "ixgbe"), kPanic, kHang}), Cause::host_down);
  EXPECT_EQ(first({kHang, "ixgbe 0000:05:00.0 eth3: Detected Tx Unit Hang", kCrash,
                   frame("ixgbe_poll", "ixgbe"), kPanic}),
            Cause::host_down)
      << "which of the two NICs?";
  Job late;
  report(late, "node-0", kHang, 3600);
  report(late, "node-0", kCrash, 9000);
  report(late, "node-0", frame("ixgbe_poll", "ixgbe"), 9000);
  EXPECT_EQ(late.diagnosis().root_causes.front().cause, Cause::host_down);
}

TEST(KernelStacks, ATaskThatHangsInADriverMakesItsIdlePortNoSurerCause) {
  const auto sure_of_port = [](const std::string& module) {
    const Diagnosis diagnosis =
        told_by_kernel({"ixgbe 0000:04:00.0 eth2: NIC Link is Down",
                        "INFO: task kworker/3:1:991 blocked for more than 120 seconds.",
                        frame("ixgbe_close", module)});
    for (const Finding& finding : findings_of(diagnosis))
      if (finding.cause == Cause::network_link_down) return finding.confidence;
    return 0.0;
  };
  EXPECT_EQ(sure_of_port("ixgbe"), sure_of_port("nfs"));
}

}  // namespace
}  // namespace faultline
