// A fact is what one line says. Which line, who said it and when is in the Event around it.
//
// To add a kind of fact: write its struct, describe it, add it to Fact. Store and JSON read the
// fields off the description, so they need no change.
#pragma once

#include <boost/describe.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace faultline {

// NCCL began or finished setting up a communicator on one rank.
struct CommunicatorInit {
  static constexpr std::string_view kKind = "communicator_init";
  std::uint64_t communicator = 0;  // a pointer: means something only within its process
  int rank = 0;
  int nranks = 0;
  int cuda_device = -1;         // as the process counts them
  int nvml_device = -1;         // as nvidia-smi counts them; -1: this version does not print it
  std::string gpu;              // 0000:3b:00.0; empty where the version prints no busId
  std::string communicator_id;  // 0x… as printed: equal on all its ranks; empty if not printed
  std::optional<std::uint64_t> parent;  // split, shrink: the communicator it came from
  std::optional<int> child;             // which split of the parent it is, where printed
  std::optional<int> color;
  std::optional<int> key;
  std::string function;   // ncclCommInitRank, ncclCommSplit, …; empty if not printed
  bool complete = false;  // false: Init START
  bool operator==(const CommunicatorInit&) const = default;
};
BOOST_DESCRIBE_STRUCT(CommunicatorInit, (),
                      (communicator, rank, nranks, cuda_device, nvml_device, gpu, communicator_id,
                       parent, child, color, key, function, complete))

enum class CommunicatorEnding { destroyed, abort_started, aborted, revoke_started, revoked };
BOOST_DESCRIBE_ENUM(CommunicatorEnding, destroyed, abort_started, aborted, revoke_started, revoked)

// A communicator came to its end on one rank; its pointer may be used again.
struct CommunicatorEnd {
  static constexpr std::string_view kKind = "communicator_end";
  std::uint64_t communicator = 0;
  int rank = 0;
  int nranks = 0;
  std::string gpu;
  CommunicatorEnding ending = CommunicatorEnding::destroyed;
  bool operator==(const CommunicatorEnd&) const = default;
};
BOOST_DESCRIBE_STRUCT(CommunicatorEnd, (), (communicator, rank, nranks, gpu, ending))

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

using Fact = std::variant<CommunicatorInit, CommunicatorEnd, GpuXid, GpuIdentity, HostBooted>;

inline std::string_view kind_of(const Fact& fact) {
  return std::visit([](const auto& f) { return f.kKind; }, fact);
}

}  // namespace faultline
