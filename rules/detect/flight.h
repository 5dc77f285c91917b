// What dumps of PyTorch's Flight Recorder show: ranks that never entered a collective, called
// something else than their peers, or whose GPUs did not finish.
#pragma once

#include <vector>

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_flight_faults(const View& view);

}  // namespace faultline
