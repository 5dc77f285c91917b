// The processes of the job that lines name by their pid: labels of launchers, launchers' lines
// about exits, and NCCL's lines. A kernel line with that pid is about that process.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rules/picture/view.h"
#include "rules/state/line_ref.h"

namespace faultline {

struct NamedProcess {
  std::string host;               // empty: not known
  std::vector<int> ranks;         // empty: not known
  const LineRef* line = nullptr;  // that names it
  bool ended = false;             // a launcher said how it ended
};

// The hosts whose kernels name a pid.
using HostsByPid = std::map<std::int64_t, std::set<std::string>>;

class NamedProcesses {
 public:
  // `wanted`: only these processes are looked for.
  NamedProcesses(const View& view, HostsByPid wanted);

  // nullptr: no process of the job has this pid on this host, or several may be meant.
  const NamedProcess* find(const std::string& host, std::int64_t pid) const;

 private:
  void add(std::int64_t pid, NamedProcess process);

  std::map<std::int64_t, std::optional<NamedProcess>> by_pid_;  // nullopt: several processes
  HostsByPid hosts_;
};

}  // namespace faultline
