// What NCCL complained about: causes with the part that they blame, and what only follows from
// them.
#pragma once

#include <vector>

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_remarks(const View& view);

}  // namespace faultline
