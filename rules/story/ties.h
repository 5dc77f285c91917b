// What ties faults to the ranks that stopped: which ranks a fault between two hosts holds up, and
// whether anything but the host ties a fault without a known time to the stop.
#pragma once

#include <vector>

#include "rules/picture/view.h"
#include "rules/story/candidate.h"

namespace faultline {

// Fills in held_up.
void find_held_up(const View& view, std::vector<Candidate>& candidates);

// Fills in `untied`: a fault that no clock places, and that nothing else ties to the stop: no
// process or GPU of a rank that stopped, no host that is waited for, no connection that broke.
void find_untied(const View& view, std::vector<Candidate>& candidates);

}  // namespace faultline
