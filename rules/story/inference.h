// How sure each finding is in the company of the others.
#pragma once

#include <cstddef>
#include <vector>

#include "rules/knowledge/grounds.h"
#include "rules/knowledge/suspicion.h"
#include "rules/story/candidate.h"

namespace faultline {

// From its claim and grounds.
void work_out_confidence(const Grounds& grounds, Suspicion& suspicion);

// What a cause accounts for is a ground to be more or less sure of it.
void weigh(const Grounds& grounds, std::vector<Candidate>& candidates);

// Fills in log_odds and steps, and rounds what is stated. `unheard`: ranks of the job of which no
// line was seen.
void state_confidence(const Grounds& grounds, std::vector<Candidate>& candidates,
                      std::size_t unheard);

}  // namespace faultline
