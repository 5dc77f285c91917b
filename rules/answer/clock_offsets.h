// How far the clocks of the job's hosts are off. The ranks of a communicator finish setting it up
// together, so their timestamps of that show it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/incident.h"
#include "rules/picture/view.h"

namespace faultline {

// Only hosts whose clocks are further off than such timestamps differ anyway.
std::vector<ClockOffset> clock_offsets(const View& view);

}  // namespace faultline
