// How sure each finding is, beside the others.
#pragma once

#include <cstddef>
#include <vector>

#include "rules/knowledge/grounds.h"
#include "rules/knowledge/suspicion.h"
#include "rules/story/candidate.h"

namespace faultline {

// Works out the confidence from claim and grounds.
void work_out_confidence(const Grounds& grounds, Suspicion& suspicion);

// Makes each cause more or less sure by what it explains.
void weigh(const Grounds& grounds, std::vector<Candidate>& candidates);

// Fills in log_odds and steps, and rounds what is stated. `unheard`: how many ranks of the job have
// no line.
void state_confidence(const Grounds& grounds, std::vector<Candidate>& candidates,
                      std::size_t unheard);

}  // namespace faultline
