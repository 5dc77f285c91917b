// How far the clocks of the job's hosts are apart, from what happened on all of them at once: the
// ranks of a communicator finish setting it up together.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/incident.h"
#include "rules/picture/view.h"

namespace faultline {

// Only of hosts whose clocks are further off than the spread of such moments.
std::vector<ClockOffset> clock_offsets(const View& view);

}  // namespace faultline
