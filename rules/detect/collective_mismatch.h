// Ranks that called different things at the same position of a communicator.
#pragma once

#include <vector>

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_collective_mismatches(const View& view);

}  // namespace faultline
