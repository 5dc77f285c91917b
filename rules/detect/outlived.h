// Faults that would have stopped the job, and did not: it came to its end.
#pragma once

#include <vector>

#include "rules/detect/detector.h"

namespace faultline {

// Such a fault was before the job or after it, or harmed others. It is mentioned, and accuses
// nobody.
void spare_what_was_outlived(const View& view, std::vector<Suspicion>& suspicions);

}  // namespace faultline
