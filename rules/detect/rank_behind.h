// Ranks that everybody waits for: they never entered an operation that their peers did.
#pragma once

#include <vector>

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_ranks_behind(const View& view);

}  // namespace faultline
