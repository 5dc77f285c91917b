// What is not to be told yet: while logs arrive, a finding may be undone by the next line.
#pragma once

#include <vector>

#include "rules/picture/view.h"
#include "rules/story/candidate.h"

namespace faultline {

// Marks those that wait for what may still come. Ids must be known.
void hold_back(const View& view, std::vector<Candidate>& candidates);

}  // namespace faultline
