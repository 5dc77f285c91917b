// What torch.profiler exports of the ranks that somebody profiled: Chrome traces of some steps.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "simulate/communicators.h"
#include "simulate/version.h"

namespace faultline::simulation {

// How a rank comes late in a step.
struct Lateness {
  double computes = 1;  // so many times as long as others
  double idles = 0;     // milliseconds, before it begins
};

struct ProfiledRun {
  std::vector<int> ranks;                            // of which there are profiles
  double network = 1;                                // communication takes so many times as long
  double hidden = 1;                                 // and that behind the backward pass once more
  std::function<Lateness(int rank, int step)> late;  // none: nobody is
};

// By rank. Whoever comes first to a collective waits in it for the last.
std::map<int, std::string> profiles_of(const Cluster& cluster, const Communicators& communicators,
                                       const NcclVersion& version, int attempt,
                                       const ProfiledRun& run);

}  // namespace faultline::simulation
