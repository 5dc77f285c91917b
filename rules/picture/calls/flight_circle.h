// Ranks that stand each in what the next has not called, over all process groups, by their dumps.
#pragma once

#include "rules/picture/calls/flight_alignment.h"

namespace faultline {

// Fills in the circle of an alignment whose stalls and fronts are known.
void find_circle(const Flight& flight, const std::map<int, std::size_t>& dump_of_rank,
                 FlightAlignment& alignment);

}  // namespace faultline
