// What PyTorch, its launchers and its exceptions report: which ranks timed out, which did not come,
// which ended first and why.
#pragma once

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_torch_faults(const View& view);

}  // namespace faultline
