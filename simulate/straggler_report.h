// What programs print when they compare their own ranks.
#pragma once

#include <string>
#include <vector>

#include "simulate/cluster.h"

namespace faultline::simulation {

// As scripts print it: " rank 3: avg barrier time 812.40ms (4.10x median) [SLOW]". By rank, in
// milliseconds.
std::string barrier_times(const std::vector<double>& ms);

// As NVIDIA's resiliency extension prints it: how fast the kernels of each rank are, compared with
// the best rank, and which ranks are below the limit.
std::string gpu_scores(const Cluster& cluster, const std::vector<double>& scores);

}  // namespace faultline::simulation
