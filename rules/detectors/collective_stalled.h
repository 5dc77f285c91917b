// Every rank entered the same operation and none finished it. Only logs with DONE lines can tell.
#pragma once

#include <vector>

#include "rules/detectors/detector.h"

namespace faultline {

std::vector<Suspicion> find_stalled_collectives(const View& view);

}  // namespace faultline
