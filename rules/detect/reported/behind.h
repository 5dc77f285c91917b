// Ranks that launched fewer operations than their peers when ncclras looked.
//
// ncclras counts what ranks launched, not what came to an end, and asks them one after the other:
// in a job that runs, ranks differ by a few, and not the same ones a minute later. So one report is
// a hint; two between which the last ranks stood still are a hang; and if they moved, there is
// nothing to say.
#pragma once

#include <vector>

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_reported_behind(const View& view);

}  // namespace faultline
