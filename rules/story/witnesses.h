// Several detectors may tell of one fault by lines of different kinds: a warning of NCCL and a
// setting, a kernel and a tool's report. Where they do, it is one finding, and each bears the other
// out.
#pragma once

#include <vector>

#include "rules/story/inference.h"

namespace faultline {

// The same class of the same part, or of a part and of what it is a part of, becomes one finding:
// of the part that is named most closely. Nothing must be linked yet.
void join_witnesses(std::vector<Candidate>& candidates);

}  // namespace faultline
