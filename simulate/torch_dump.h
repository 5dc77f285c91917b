// The Flight Recorder dump of a rank.
#pragma once

#include <string>

#include "simulate/torch_calls.h"

namespace faultline::simulation {

// DIR/nccl_trace_rank_3, as this version calls it, or rank_3.json.
std::string dump_name(const Options& options, int rank);

std::string flight_dump(const Options& options, const TorchCalls& calls);

}  // namespace faultline::simulation
