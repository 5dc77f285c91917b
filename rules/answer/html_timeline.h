// What happened when, and where, as the page draws it: a row for each host and each rank that
// matters. A mark is as wide as its time is uncertain.
#pragma once

#include <string>

#include "model/finding.h"
#include "rules/answer/heard.h"

namespace faultline {

// first: the cause that is shown first; nullptr: there is none.
std::string timeline_in_html(const Diagnosis& diagnosis, const Heard& heard, const Finding* first);

}  // namespace faultline
