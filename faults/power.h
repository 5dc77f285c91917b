// Power cuts. One run under load writes a journal of what it does to its disk; many cuts are made
// from it.
#pragma once

#include "faults/lane.h"

namespace faultline::faults {

void run_power_cuts(Lane& lane);

}  // namespace faultline::faults
