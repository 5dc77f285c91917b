// What PyTorch, its launchers and its exceptions tell: who timed out, who did not come, who ended
// first and of what.
#pragma once

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_torch_faults(const View& view);

}  // namespace faultline
