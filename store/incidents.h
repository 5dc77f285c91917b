// Incidents: the causes and symptoms of one failure, under one name for as long as it lasts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "store/store.h"

namespace faultline {

// A finding that was open before, and the incident to which it belonged.
struct KnownIncident {
  std::string finding;
  std::string incident;
  std::int64_t age = 0;  // the smaller, the older
};

// The incident of each cause and symptom, by the finding's id. A finding is in one incident with
// the findings that it explains. An incident keeps its name while one of its findings stands. If
// the diagnosis has changed its mind, its new findings take over the name of an incident that has
// none left.
std::map<std::string, std::string, std::less<>> incidents_of(const std::vector<Finding>& found,
                                                             const Standing& standing,
                                                             std::vector<KnownIncident> known);

}  // namespace faultline
