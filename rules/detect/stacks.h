// Ranks whose stacks are elsewhere, while the stacks of their peers are in a collective.
#pragma once

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_elsewhere_by_stacks(const View& view);

// Adds what a rank that the finding names does, if somebody dumped its stack and it does not wait
// in a collective.
void add_what_it_does(const View& view, Finding& finding);

}  // namespace faultline
