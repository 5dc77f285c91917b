// Ranks that others wait for, in logs that lost lines here and there.
#pragma once

#include <vector>

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_ranks_behind_despite_gaps(const View& view);

}  // namespace faultline
