// A sender can multiply findings: a line for each of its GPUs, hosts and codes. What is over a
// budget becomes one finding that counts the others and names their parts.
#pragma once

#include <vector>

#include "rules/knowledge/suspicion.h"

namespace faultline {

// Of each class, the few that matter most stay as they are: those of the job's parts, the worst,
// the firmest, the earliest. Ids are set by whoever calls; what is folded into one has an id of its
// own.
void fold_what_is_over_budget(std::vector<Suspicion>& found);

}  // namespace faultline
