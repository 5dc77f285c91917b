// Makes one finding of what several detectors report about one event; each of them confirms it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/picture/view.h"
#include "rules/story/candidate.h"

namespace faultline {

// An id made from the text.
std::string id_from(std::string_view text);

// Merges findings of one event into the one that says most about it: for calls the one of the clock
// that sees most, otherwise the one that names its part most closely. Two findings with one id get
// two ids. Nothing may be linked yet.
void merge(const View& view, std::vector<Candidate>& candidates);

}  // namespace faultline
