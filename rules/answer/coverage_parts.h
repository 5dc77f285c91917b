// What tools reported about the parts of the job's hosts, and of how many hosts.
#pragma once

#include <vector>

#include "rules/picture/view.h"

namespace faultline {

// Ports, GPU memory, MTU, shared memory. A check with status `unknown` has the command that
// collects its evidence.
std::vector<Check> checks_of_parts(const View& view);

}  // namespace faultline
