// Where the records of NCCL's Inspector end.
//
// It records what completed, not what was called. A collective completes on one rank only if all
// its ranks took part, so in a hang all records end at the same operation and say nothing of who
// stopped; that they end is information, as every job ends somewhere. A rank whose records end much
// earlier than its peers' took part in what they completed: not its collectives stopped but its
// process, or its log was cut. That is a suspicion, never more.
#pragma once

#include <vector>

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_inspected_ends(const View& view);

}  // namespace faultline
