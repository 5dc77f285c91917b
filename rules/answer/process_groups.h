// The process groups that Flight Recorder dumps know, by the names that findings give them.
#pragma once

#include <string>
#include <vector>

#include "rules/picture/calls/flight_groups.h"

namespace faultline {

struct NamedGroup {
  std::string id;  // "0 (default_pg)"; a second group of that name is "0 (default_pg)#2"
  FlightPlaces places;
};

// Those that some rank's dump knows, by their numbers and names, whichever dump came first.
std::vector<NamedGroup> named_groups(const Flight& flight);

}  // namespace faultline
