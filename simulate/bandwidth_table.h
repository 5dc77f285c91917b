// The tables that nccl-tests prints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulate/cluster.h"
#include "simulate/version.h"

namespace faultline::simulation {

struct BandwidthTest {
  std::vector<int> hosts;        // by their numbers; those beyond the cluster's are beside it
  double reaches = 1;            // so much of what such hosts can
  bool checked = true;           // -c 1
  std::uint64_t wrong_from = 0;  // results of messages so large are wrong; 0: none are
  std::uint64_t salt = 0;        // of a run: no two are alike
};

// all_reduce_perf, of the nccl-tests that people had beside this NCCL.
std::string all_reduce_perf(const Cluster& cluster, const NcclVersion& version,
                            const BandwidthTest& test);

}  // namespace faultline::simulation
