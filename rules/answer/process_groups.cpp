#include "rules/answer/process_groups.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "rules/picture/calls/told/recorder.h"

namespace faultline {

std::vector<NamedGroup> named_groups(const Flight& flight) {
  std::vector<NamedGroup> groups;
  std::map<std::string, int> named;
  for (FlightPlaces& places : places_in_groups(flight, flight.latest())) {
    if (places.places.empty()) continue;
    std::string id = group_text(flight, places.group);
    if (const int nth = ++named[id]; nth > 1) id += fmt::format("#{}", nth);
    groups.push_back({std::move(id), std::move(places)});
  }
  return groups;
}

}  // namespace faultline
