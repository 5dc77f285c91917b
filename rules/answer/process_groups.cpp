#include "rules/answer/process_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "rules/picture/calls/told/recorder.h"

namespace faultline {
namespace {

// Most names are numbers, and 2 comes before 10.
std::uint64_t number_of(const std::string& name) {
  std::uint64_t number = UINT64_MAX;
  std::from_chars(name.data(), name.data() + name.size(), number);
  return number;
}

}  // namespace

std::vector<NamedGroup> named_groups(const Flight& flight) {
  std::vector<NamedGroup> groups;
  for (FlightPlaces& places : places_in_groups(flight, flight.latest()))
    if (!places.places.empty())
      groups.push_back({group_text(flight, places.group), std::move(places)});
  std::ranges::sort(groups, {}, [&](const NamedGroup& group) {
    return std::tuple(number_of(group.id), group.id, flight.groups()[group.places.group].members);
  });
  std::map<std::string, int> named;
  for (NamedGroup& group : groups)
    if (const int nth = ++named[group.id]; nth > 1) group.id += fmt::format("#{}", nth);
  return groups;
}

}  // namespace faultline
