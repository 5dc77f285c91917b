// Which other findings confirm a finding.
#pragma once

#include <vector>

#include "rules/story/candidate.h"

namespace faultline {

// What follows from a finding about calls, and is reported by another clock, confirms that finding.
void call_witnesses(std::vector<Candidate>& candidates);

}  // namespace faultline
