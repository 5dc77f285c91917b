// Power cuts: of one run under load, with a journal of what it did to its disk, many are made.
#pragma once

#include "faults/lane.h"

namespace faultline::faults {

void run_power_cuts(Lane& lane);

}  // namespace faultline::faults
