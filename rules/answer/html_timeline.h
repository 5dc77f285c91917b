// What happened when, and where, as the page draws it: a lane for each host, and a mark as wide as
// what the stamp of its line leaves open.
#pragma once

#include <string>

#include "model/finding.h"

namespace faultline {

// first: the cause that is shown first; nullptr: there is none.
std::string timeline_in_html(const Diagnosis& diagnosis, const Finding* first);

}  // namespace faultline
