// Processes that a launcher saw ended by a signal, and that a kernel log names by the same pid. The
// match shows from which host the kernel log is, even if no line of it names a host.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "rules/picture/read/kernel_sightings.h"

namespace faultline {

class EndedProcesses {
 public:
  EndedProcesses(const View& view, const std::vector<KernelSighting>& sightings);

  // The launcher's line about the process whose end this kernel line reports. nullptr: there is
  // none, or several processes have that pid, or the signal, the host or the time does not match.
  const TorchLine<ProcessExit>* end_told_by(const KernelSighting& sighting) const;

 private:
  const View& view_;
  std::map<std::int64_t, const TorchLine<ProcessExit>*> by_pid_;  // nullptr: several
  std::map<std::int64_t, std::set<const KernelLog*>> told_in_;    // by pid
};

}  // namespace faultline
