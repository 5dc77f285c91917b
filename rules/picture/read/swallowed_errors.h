// NCCL versions that do not report a network error during a transfer: the job hangs in silence.
#pragma once

#include <string_view>

#include "rules/picture/read/remark_sightings.h"

namespace faultline {

// "2.27.7+cuda12.8"
bool swallows_transfer_errors(std::string_view nccl_version);

bool is_swallowed(const View& view, const Sighting& sighting);

}  // namespace faultline
