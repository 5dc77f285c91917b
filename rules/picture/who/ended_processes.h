// Processes that a launcher saw ended by a signal and a kernel tells of by the same number. The two
// do not know of each other: so it is known whose log the kernel's is, though no line of it names a
// host.
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

  // What a launcher says of the end that this line of a kernel tells of. Null: nothing; or several
  // processes have that number; or the signal, the host or the time is another one.
  const TorchLine<ProcessExit>* end_told_by(const KernelSighting& sighting) const;

 private:
  const View& view_;
  std::map<std::int64_t, const TorchLine<ProcessExit>*> by_pid_;  // null: several
  std::map<std::int64_t, std::set<const KernelLog*>> told_in_;    // by pid
};

}  // namespace faultline
