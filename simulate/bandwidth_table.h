// The tables that nccl-tests prints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulate/cluster.h"
#include "simulate/version.h"

namespace faultline::simulation {

struct BandwidthTest {
  std::vector<int> hosts;        // by number; numbers beyond the cluster's are hosts beside it
  double reaches = 1;            // the share of the usual bandwidth
  bool checked = true;           // -c 1
  std::uint64_t wrong_from = 0;  // messages of this size or more have wrong results; 0: none
  std::uint64_t salt = 0;        // tells runs apart, so that no two are alike
};

// all_reduce_perf, in the form of the nccl-tests that was current with this NCCL.
std::string all_reduce_perf(const Cluster& cluster, const NcclVersion& version,
                            const BandwidthTest& test);

}  // namespace faultline::simulation
