// Which finding follows from which, by causality.yaml: their parts must be related, their times
// allow it, and the one must be firm enough to account for the other.
#pragma once

#include <string>
#include <vector>

#include "rules/knowledge/catalog.h"
#include "rules/story/candidate.h"

namespace faultline {

// Fills in effects, explained_by and possible_causes, and what each finding explains.
void link(const Catalog& catalog, std::vector<Candidate>& candidates);

// From the first root cause to what it led to: each finding after what explains it, earlier lines
// first.
std::vector<std::string> chain_of(const Finding& cause, const std::vector<Finding>& symptoms);

}  // namespace faultline
