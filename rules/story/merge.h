// What several detectors tell of one event becomes one finding, and each bears the other out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/picture/view.h"
#include "rules/story/candidate.h"

namespace faultline {

// The id of what such a text tells of.
std::string id_from(std::string_view text);

// Findings of one event become the one that tells most of it: of calls by the clock that sees most,
// of all else the one that names its part most closely. Findings of one id that are two get two
// ids. Nothing must be linked yet.
void merge(const View& view, std::vector<Candidate>& candidates);

}  // namespace faultline
