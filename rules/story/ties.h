// What ties faults to those who stopped: whom a fault between two hosts holds up, and whether
// anything but the host ties one that no clock places.
#pragma once

#include <vector>

#include "rules/picture/view.h"
#include "rules/story/candidate.h"

namespace faultline {

// Fills in held_up.
void find_held_up(const View& view, std::vector<Candidate>& candidates);

// Fills in `untied`: of faults that no clock places, and that neither a process nor a GPU of a rank
// that stopped, nor who is waited for, nor a connection that broke ties to the stop.
void find_untied(const View& view, std::vector<Candidate>& candidates);

}  // namespace faultline
