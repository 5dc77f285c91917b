// Circles of ranks, over all process groups, by their dumps: each rank waits in a call that the
// next has not made.
#pragma once

#include "rules/picture/calls/flight_alignment.h"

namespace faultline {

// Fills in the circle of an alignment whose stalls and fronts are known.
void find_circle(const Flight& flight, const std::map<int, std::size_t>& dump_of_rank,
                 FlightAlignment& alignment);

}  // namespace faultline
