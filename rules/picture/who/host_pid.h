// A process by its pid. A pid is unique only on its machine or in its container: pods of one job
// have equal ones.
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "rules/state/job_state.h"

namespace faultline {

struct HostPid {
  std::string host;  // empty: not known; then only the source identifies the machine
  std::uint32_t source = 0;
  std::int64_t pid = 0;  // 0: not known
};

// `printed_host`: as the line names it; if empty, the host of the source is used.
HostPid host_pid(const JobState& job, const std::string& printed_host, std::uint32_t source,
                 std::int64_t pid);

// Processes that lines name.
class NamedPids {
 public:
  void add(const HostPid& process);

  // If both hosts are known, they must be equal; else both lines must be in the same source.
  bool contains(const HostPid& process) const;

 private:
  std::set<std::pair<std::string, std::int64_t>> on_host_;
  std::set<std::pair<std::uint32_t, std::int64_t>> of_unknown_host_;  // by source
  std::set<std::pair<std::uint32_t, std::int64_t>> of_known_host_;    // by source
};

}  // namespace faultline
