// Who bears a finding out.
#pragma once

#include <vector>

#include "rules/story/candidate.h"

namespace faultline {

// What follows from a finding of calls and is told by another clock bears witness to it as well.
void call_witnesses(std::vector<Candidate>& candidates);

}  // namespace faultline
