// What ncclras, NCCL's Inspector and a proxy's dump say of ranks, where the ranks' own logs do not.
#pragma once

#include <vector>

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_reported(const View& view);

}  // namespace faultline
