// Network ports, GPUs, paths and hosts, by what tools said of them.
#pragma once

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_part_faults(const View& view);

}  // namespace faultline
