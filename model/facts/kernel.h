// What the lines of the kernel and its drivers say.
#pragma once

#include <boost/describe.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace faultline {

// The GPU driver reported an Xid. What the code means is in rules/knowledge/catalog/xid.csv.
struct GpuXid {
  static constexpr std::string_view kKind = "gpu_xid";
  std::string gpu;  // 0000:3b:00.0
  int code = 0;
  std::optional<int> gpu_instance;      // MIG
  std::optional<int> compute_instance;  // MIG
  std::optional<std::int64_t> pid;      // the host's pid, also for a process in a container
  std::string process;                  // at most 15 bytes of its name
  std::string detail;                   // the text after the code
  std::optional<int> caused_by;         // "caused by previous Xid 31"
  bool xid_line = true;                 // false: from another NVRM line ("has fallen off the bus")
  int repeated = 1;                     // "message repeated 3 times"
  bool operator==(const GpuXid&) const = default;
};
BOOST_DESCRIBE_STRUCT(GpuXid, (),
                      (gpu, code, gpu_instance, compute_instance, pid, process, detail, caused_by,
                       xid_line, repeated))

// The driver names a GPU before its first Xid: UUID or board serial number, for the repair ticket.
struct GpuIdentity {
  static constexpr std::string_view kKind = "gpu_identity";
  std::string gpu;  // empty on the serial number's line: it follows the UUID's
  std::string uuid;
  std::string serial;
  bool operator==(const GpuIdentity&) const = default;
};
BOOST_DESCRIBE_STRUCT(GpuIdentity, (), (gpu, uuid, serial))

// A switch between GPUs reported an SXid, through its driver or through the fabric manager. What
// the code means is in rules/knowledge/catalog/sxid.csv.
struct SwitchError {
  static constexpr std::string_view kKind = "switch_error";
  std::string nvswitch;  // its PCI address
  int code = 0;
  std::string printed;      // Fatal, Non-fatal, Correctable; empty: the line has no such word
  std::optional<int> link;  // the switch's port
  std::string detail;
  bool goes_on = false;  // more registers of the error in a line before
  std::string teller;    // driver, fabric_manager
  int repeated = 1;
  bool operator==(const SwitchError&) const = default;
};
BOOST_DESCRIBE_STRUCT(SwitchError, (),
                      (nvswitch, code, printed, link, detail, goes_on, teller, repeated))

// The GPU driver was loaded or unloaded: what its GPUs report in between is maintenance.
struct GpuDriver {
  static constexpr std::string_view kKind = "gpu_driver";
  bool loaded = false;
  std::string version;  // if it was loaded
  bool operator==(const GpuDriver&) const = default;
};
BOOST_DESCRIBE_STRUCT(GpuDriver, (), (loaded, version))

// The host was told to stop; what fails after that belongs to the shutdown.
struct HostStopping {
  static constexpr std::string_view kKind = "host_stopping";
  std::string how;
  bool operator==(const HostStopping&) const = default;
};
BOOST_DESCRIBE_STRUCT(HostStopping, (), (how))

// What the wall clock said at the event's uptime. From the kernel, or from the sender of the log,
// who knew when the host had booted (then the uptime is 0).
struct ClockReading {
  static constexpr std::string_view kKind = "clock_reading";
  std::int64_t wall_us = 0;
  std::string teller;  // rtc, audit, sender
  bool operator==(const ClockReading&) const = default;
};
BOOST_DESCRIBE_STRUCT(ClockReading, (), (wall_us, teller))

// Lines of the kernel that never reached this log.
struct LinesLost {
  static constexpr std::string_view kKind = "lines_lost";
  std::int64_t lines = 0;  // 0: not counted
  std::string teller;      // journald, kernel
  bool operator==(const LinesLost&) const = default;
};
BOOST_DESCRIBE_STRUCT(LinesLost, (), (lines, teller))

// The kernel started: lines before it belong to an earlier boot.
struct HostBooted {
  static constexpr std::string_view kKind = "host_booted";
  std::string kernel;
  bool operator==(const HostBooted&) const = default;
};
BOOST_DESCRIBE_STRUCT(HostBooted, (), (kernel))

}  // namespace faultline
