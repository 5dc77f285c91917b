// What a diagnosis says besides its findings: what was looked at, what happened when, and what to
// do about the machines.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/time.h"

namespace faultline {

// What was looked at of one host.
struct HostCoverage {
  std::string host;  // empty: lines for which no host was found
  std::vector<int> ranks;
  std::map<std::string, std::uint64_t> lines;  // by dialect
  std::optional<Timestamp> from;               // of the lines that carry a time
  std::optional<Timestamp> to;
};

// Something to switch on, or to ship, before the next run.
struct NextTime {
  std::string set;  // NCCL_DEBUG_SUBSYS=INIT,COLL
  std::string why;
};

// How far a host's clock is ahead of the others'.
struct ClockOffset {
  std::string host;
  double seconds = 0;
  std::string basis;
};

struct TimelineEntry {
  std::optional<Timestamp> time;  // corrected by the host's clock offset
  std::string host;
  std::string what;
  std::string finding;
};

// Hosts that the job should not be started on again.
struct Exclusion {
  std::vector<std::string> hosts;
  std::string slurm;       // --exclude=gpu-node-3
  std::string kubernetes;  // kubectl cordon gpu-node-3
};

}  // namespace faultline
