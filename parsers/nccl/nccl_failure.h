// What nccl-tests and NCCL's sample programs print when a call to NCCL returns an error.
#pragma once

#include <string_view>
#include <vector>

#include "parsers/parser.h"

namespace faultline {

// gpu-a: Test NCCL failure alltoall.cu:274 'unhandled system error / '
// Failed, NCCL error one_device_per_thread.cu:17 'invalid usage'
bool parse_nccl_failure(std::string_view text, std::vector<Reading>& readings);

}  // namespace faultline
