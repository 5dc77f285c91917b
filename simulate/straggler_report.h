// What programs print of themselves when they compare their ranks.
#pragma once

#include <string>
#include <vector>

#include "simulate/cluster.h"

namespace faultline::simulation {

// Of scripts: " rank 3: avg barrier time 812.40ms (4.10x median) [SLOW]". By rank, in milliseconds.
std::string barrier_times(const std::vector<double>& ms);

// NVIDIA's resiliency extension: how fast the kernels of each rank are beside those of the best,
// and who is below what it is told to bear.
std::string gpu_scores(const Cluster& cluster, const std::vector<double>& scores);

}  // namespace faultline::simulation
