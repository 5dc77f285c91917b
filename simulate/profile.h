// What torch.profiler exports for profiled ranks: Chrome traces of some steps.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "simulate/communicators.h"
#include "simulate/version.h"

namespace faultline::simulation {

// How a rank is late in a step.
struct Lateness {
  double computes = 1;  // times as long as other ranks
  double idles = 0;     // milliseconds before it begins
};

struct ProfiledRun {
  std::vector<int> ranks;  // the profiled ranks
  double network = 1;      // communication takes this many times as long
  double hidden = 1;       // communication behind the backward pass, this factor too
  std::function<Lateness(int rank, int step)> late;  // none: no rank is
};

// By rank. Ranks that come early to a collective wait in it for the last one.
std::map<int, std::string> profiles_of(const Cluster& cluster, const Communicators& communicators,
                                       const NcclVersion& version, int attempt,
                                       const ProfiledRun& run);

}  // namespace faultline::simulation
