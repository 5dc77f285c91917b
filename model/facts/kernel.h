// What the lines of the kernel and its drivers say.
#pragma once

#include <boost/describe.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace faultline {

// The GPU driver reported an Xid. What the code means is in rules/catalog/xid.csv.
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
  bool xid_line = true;  // false: told by another NVRM line ("has fallen off the bus")
  int repeated = 1;      // "message repeated 3 times"
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

// The kernel started: lines before it belong to an earlier boot.
struct HostBooted {
  static constexpr std::string_view kKind = "host_booted";
  std::string kernel;
  bool operator==(const HostBooted&) const = default;
};
BOOST_DESCRIBE_STRUCT(HostBooted, (), (kernel))

}  // namespace faultline
