// What was measured of the job's speed, and whether it can be told how good that is.
#pragma once

#include <vector>

#include "rules/detectors/detector.h"

namespace faultline {

// Bandwidth tests and profiles; nothing of those that nobody took.
std::vector<Check> checks_of_performance(const View& view);

}  // namespace faultline
