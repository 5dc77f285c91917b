// Lines of scripts that people write to watch a job, in the form of a widely copied tutorial: times
// of barriers, the use of a GPU, the bandwidth of a collective.
#pragma once

#include <string_view>
#include <vector>

#include "parsers/parser.h"

namespace faultline {

// " rank 3: avg barrier time 812.40ms (4.10x median) [SLOW]"
bool parse_barrier_time(std::string_view text, std::vector<Reading>& readings);
// " WARNING: Straggler ranks detected: [3, 7]"
bool parse_straggler_ranks(std::string_view text, std::vector<Reading>& readings);
// NVIDIA's resiliency extension compares the times of kernels: "STRAGGLER DETECTION WARNING: Some
// GPUs have worse relative performance. Affected ranks: {StragglerId(rank=3, node='gpu-7')}"
bool parse_slow_gpus(std::string_view text, std::vector<Reading>& readings);
// Megatron-LM prints its own measurements: "[2026-03-05 02:47:11] | MnRtt/Rnk: 1446.49ms/13 |
// MxRtt/Rnk: 1570.32ms/30 | ... | MnClk/Rnk: 1920.00MHz/14 | ... | MnEtpt/Rnk: 560.82TF/30 | ..."
bool parse_least_and_most(std::string_view text, std::vector<Reading>& readings);
// "2026-03-05T02:47:11.123456 rank=3 gpu_util=0 %, 71234"
bool parse_gpu_sample(std::string_view text, std::vector<Reading>& readings);
// " AllReduce 100MB: 88.10 GB/s, 2.21ms avg"
bool parse_bandwidth_line(std::string_view text, std::vector<Reading>& readings);

}  // namespace faultline
