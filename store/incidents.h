// Incidents: the causes and symptoms of one failure, under one name for as long as it lasts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "store/store.h"

namespace faultline {

// A finding that was open before, and the incident it was of.
struct KnownIncident {
  std::string finding;
  std::string incident;
  std::int64_t age = 0;  // the smaller, the older
};

// The incident of each cause and symptom, by the finding's id. What explains another is of one
// incident with it. An incident keeps its name while one of its findings stands; and where the
// diagnosis has changed its mind, what it says now takes the place of what it said.
std::map<std::string, std::string, std::less<>> incidents_of(const std::vector<Finding>& found,
                                                             const Standing& standing,
                                                             std::vector<KnownIncident> known);

}  // namespace faultline
