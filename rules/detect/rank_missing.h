// Ranks that never joined: expected by a communicator's size and never seen, begun and never
// finished, or one process fewer on a host than on all others. And a start that no rank finished.
#pragma once

#include <vector>

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_missing_ranks(const View& view);

}  // namespace faultline
