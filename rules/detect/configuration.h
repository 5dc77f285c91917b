// What is configured wrongly: ranks that are set up unlike their peers, and settings that defeat
// their purpose.
#pragma once

#include <vector>

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_configuration_faults(const View& view);

// Returns one suspicion for each cause and subject, however many looks found it.
std::vector<Suspicion> joined(const Grounds& grounds, std::vector<Suspicion> found);

}  // namespace faultline
