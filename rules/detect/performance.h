// What was measured of the job or its hosts: bandwidth tests, profiles, samples of GPUs at work.
#pragma once

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_performance_faults(const View& view);

}  // namespace faultline
