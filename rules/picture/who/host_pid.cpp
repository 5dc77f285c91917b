#include "rules/picture/who/host_pid.h"

namespace faultline {

HostPid host_pid(const JobState& job, const std::string& printed_host, std::uint32_t source,
                 std::int64_t pid) {
  return {job.host_of(short_host(printed_host), source), source, pid};
}

void NamedPids::add(const HostPid& process) {
  if (process.pid == 0) return;
  if (process.host.empty()) {
    of_unknown_host_.emplace(process.source, process.pid);
  } else {
    on_host_.emplace(process.host, process.pid);
    of_known_host_.emplace(process.source, process.pid);
  }
}

bool NamedPids::contains(const HostPid& process) const {
  if (process.pid == 0) return false;
  const std::pair in_source(process.source, process.pid);
  if (of_unknown_host_.contains(in_source)) return true;
  return process.host.empty() ? of_known_host_.contains(in_source)
                              : on_host_.contains({process.host, process.pid});
}

}  // namespace faultline
