// What tools told of the parts of the job's hosts, and for which hosts they did not.
#pragma once

#include <vector>

#include "rules/picture/view.h"

namespace faultline {

// Ports, GPU memory, MTU, shared memory. A check that none of the job's hosts has anything for, and
// that nothing makes interesting, says how to collect it.
std::vector<Check> checks_of_parts(const View& view);

}  // namespace faultline
