// Faults of network ports, GPUs, paths and hosts that tools reported.
#pragma once

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_part_faults(const View& view);

}  // namespace faultline
