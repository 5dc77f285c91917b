// What the logs of one job say of one host, read from the job's state. Answers about a host combine
// these for all jobs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/finding.h"

namespace faultline {

// Reports of the same thing by the same part: a storm of them is one HostEvent.
struct HostEvent {
  std::string kind;  // of its facts: gpu_xid, switch_error, remark, host_booted
  Cause cause = Cause::none;
  std::optional<Severity> severity;
  std::optional<int> code;  // Xid, SXid
  std::string signature;    // the one that knows the line; empty: none
  std::string part;         // PCI address, device or interface; empty: the host
  std::uint64_t count = 1;
  std::optional<Timestamp> first;
  std::optional<Timestamp> last;
  std::string source;
  std::uint64_t line = 0;
  std::uint64_t offset = 0;
  std::string text;
};

struct CounterReading {
  std::uint64_t value = 0;
  std::optional<Timestamp> time;
};

struct CounterSeries {
  std::string counter;  // canonical; as the tool spells it if it is one of many
  std::string tool;
  Cause cause = Cause::none;             // of which its growth may be a sign
  std::string link;                      // which of a GPU's NVLinks
  std::optional<std::uint64_t> full_at;  // the value at which it stops counting
  std::vector<CounterReading> readings;  // in the order of time, as far as that is known
};

struct HostGpu {
  std::string gpu;  // 0000:3b:00.0; empty: no line says
  std::string uuid;
  std::string serial;
  std::vector<CounterSeries> counters;
};

struct HostPort {
  std::string port;  // mlx5_0:1, eth0
  std::string device;
  std::string netdev;
  std::string pci;
  std::string guid;
  std::vector<CounterSeries> counters;
};

struct HostView {
  std::vector<HostEvent> events;
  std::vector<HostGpu> gpus;
  std::vector<HostPort> ports;
};

using HostViews = std::map<std::string, HostView>;

}  // namespace faultline
