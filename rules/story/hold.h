// Findings that are not reported yet: while logs arrive, the next line may undo a finding.
#pragma once

#include <vector>

#include "rules/picture/view.h"
#include "rules/story/candidate.h"

namespace faultline {

// Marks the findings that wait for what may still come. Ids must be set.
void hold_back(const View& view, std::vector<Candidate>& candidates);

}  // namespace faultline
