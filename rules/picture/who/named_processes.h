// The processes of the job that lines name by their pid: behind a launcher's label, or where a
// launcher says how they ended. A line of the kernel with that pid is about that process if host
// and time allow it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rules/picture/view.h"
#include "rules/state/line_ref.h"

namespace faultline {

struct NamedProcess {
  std::string host;               // empty: not known
  std::vector<int> ranks;         // empty: not known
  const LineRef* line = nullptr;  // that names it
  EventTime first;                // when lines named it
  EventTime last;
  bool ended = false;  // a launcher said how it ended
};

// Lines of a kernel that name a process.
struct KernelMention {
  std::string host;  // empty: not known
  std::uint32_t source = 0;
  std::int64_t pid = 0;
  EventTime first;
  EventTime last;
};

class NamedProcesses {
 public:
  explicit NamedProcesses(const View& view);

  // nullptr: no process of the job has this pid there and then, or several may be meant.
  const NamedProcess* find(const KernelMention& mention) const;

 private:
  void add(std::int64_t pid, NamedProcess process);
  bool may_be_on(const NamedProcess& process, const std::string& host) const;

  const View& view_;
  std::map<std::int64_t, std::optional<NamedProcess>> by_pid_;  // nullopt: several processes
  std::size_t kernels_ = 0;  // the machines of which the job has kernel lines
};

}  // namespace faultline
