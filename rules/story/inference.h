// How sure a finding is in the company of the others.
#pragma once

#include <vector>

#include "rules/story/candidate.h"

namespace faultline {

// What is said of a cause changes with what it accounts for.
void weigh(std::vector<Candidate>& candidates);

// Turns how firm the evidence is into what is stated: rules/knowledge/confidence.h. `unheard`: ranks of the
// job of which no line was seen.
void state_confidence(std::vector<Candidate>& candidates, std::size_t unheard);

}  // namespace faultline
