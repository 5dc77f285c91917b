// Ranks whose stacks are elsewhere, while the stacks of their peers are in a collective.
#pragma once

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_elsewhere_by_stacks(const View& view);

}  // namespace faultline
