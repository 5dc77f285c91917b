// A sender can multiply findings: a line for each of its GPUs, hosts and codes. Findings over a
// budget become one finding that counts the others and names their parts.
#pragma once

#include <vector>

#include "rules/knowledge/suspicion.h"

namespace faultline {

// The findings of a class that matter most stay as they are: the most severe, the firmest, the
// earliest. The caller sets the ids; the folded finding has an id of its own.
void fold_what_is_over_budget(std::vector<Suspicion>& found);

}  // namespace faultline
