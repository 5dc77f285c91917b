// Bits of the database that turn over while nobody serves. Either no answer changes, or the server
// says that there is damage; an answer that changed unnoticed is the failure.
#pragma once

#include "faults/lane.h"

namespace faultline::faults {

void run_flips(Lane& lane);

}  // namespace faultline::faults
