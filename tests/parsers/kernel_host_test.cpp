#include "parsers/kernel/kernel_host.h"

#include <gtest/gtest.h>

#include "model/json.h"

namespace faultline {
namespace {

using Parse = bool (*)(std::string_view, std::vector<Reading>&);

// "kind json" of the only fact; empty if there is none.
std::string read(Parse parse, std::string_view text) {
  std::vector<Reading> readings;
  if (parse(text, readings) != !readings.empty()) return "says one thing and gives another";
  if (readings.empty()) return {};
  return std::string(kind_of(readings.front().fact)) + " " + fact_to_json(readings.front().fact);
}

std::string fact(const Fact& expected) {
  return std::string(kind_of(expected)) + " " + fact_to_json(expected);
}

TEST(KernelHost, TellsWhenTheGpuDriverGoes) {
  for (const char* text : {"nvidia-modeset: Unloading", "nvidia-uvm: Unloaded the UVM driver.",
                           "nvidia-nvlink: Unregistered Nvlink Core, major device number 236",
                           "  nvidia-modeset: Unloading\r"})
    EXPECT_EQ(read(parse_driver_unloading, text), fact(GpuDriver{.loaded = false})) << text;
  for (const char* text :
       {"nvidia-nvlink: Nvlink Core is being initialized, major device number 236",
        "nvidia-uvm: Loaded the UVM driver, major device number 505.",
        "nvidia-nvswitch2: open (major=510)", "nvidia-modeset: Unl", ""})
    EXPECT_EQ(read(parse_driver_unloading, text), "") << text;
}

TEST(KernelHost, TellsThatTheHostWasToldToStop) {
  for (const char* text : {"reboot: Restarting system", "kvm: exiting hardware virtualization",
                           "systemd-shutdown[1]: Syncing filesystems and block devices."})
    EXPECT_EQ(read(parse_host_stopping, text), fact(HostStopping{.how = text})) << text;
  for (const char* text : {"systemd[1]: Stopping Session 4 of user root.",
                           "systemd[1]: Reached target Multi-User System.", "rebooting soon", ""})
    EXPECT_EQ(read(parse_host_stopping, text), "") << text;
}

TEST(KernelHost, ReadsTheClockThatTheKernelRead) {
  EXPECT_EQ(read(parse_clock,
                 "rtc_cmos 00:01: setting system clock to 2026-03-05T02:40:03 UTC (1772678403)"),
            fact(ClockReading{.wall_us = 1772678403000000, .teller = "rtc"}));
  EXPECT_EQ(read(parse_clock, "audit: type=2000 audit(1772678403.312:1): state=initialized"),
            fact(ClockReading{.wall_us = 1772678403312000, .teller = "audit"}));
  for (const char* text :
       {"audit: type=2000 audit(3.312:1): state=initialized",  // the clock was never set
        "audit: type=1400 audit(1772678403.312:1): apparmor",
        "setting system clock to (1772678403)",
        "rtc_cmos 00:01: setting system clock to 2026-03-05T02:40:03 UTC (17726", ""})
    EXPECT_EQ(read(parse_clock, text), "") << text;
}

TEST(KernelHost, TellsOfLinesThatWereLost) {
  EXPECT_EQ(read(parse_lost_lines, "Missed 123 kernel messages"),
            fact(LinesLost{.lines = 123, .teller = "journald"}));
  EXPECT_EQ(read(parse_lost_lines, "printk: 37 messages suppressed."),
            fact(LinesLost{.lines = 37, .teller = "kernel"}));
  for (const char* text : {"Missed kernel messages", "printk: console [tty0] enabled",
                           "Missed 99999999999999999999 kernel messages", "Missed 12", ""})
    EXPECT_EQ(read(parse_lost_lines, text), "") << text;
}

}  // namespace
}  // namespace faultline
