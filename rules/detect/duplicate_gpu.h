// One GPU for two ranks of a communicator: NCCL refuses that.
#pragma once

#include <vector>

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_duplicate_gpus(const View& view);

}  // namespace faultline
