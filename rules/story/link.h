// Which finding follows from which, by causality.yaml: their parts must be related, their times
// must allow it, and the cause must be firm enough to explain the effect.
#pragma once

#include <string>
#include <vector>

#include "rules/knowledge/catalog.h"
#include "rules/story/candidate.h"

namespace faultline {

// Fills in effects, explained_by and possible_causes, and what each finding explains.
void link(const Catalog& catalog, std::vector<Candidate>& candidates);

// The ids from the first root cause to what it led to: each finding after those that explain it,
// earlier lines first.
std::vector<std::string> chain_of(const Finding& cause, const std::vector<Finding>& symptoms);

}  // namespace faultline
