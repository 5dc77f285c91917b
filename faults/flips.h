// Flips bits of the database while no server runs. Then either no answer changes, or the server
// reports damage; an answer that changes unnoticed is a failure.
#pragma once

#include "faults/lane.h"

namespace faultline::faults {

void run_flips(Lane& lane);

}  // namespace faultline::faults
