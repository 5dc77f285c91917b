// The machines that a finding is about.
#pragma once

#include <string>
#include <vector>

#include "model/finding.h"

namespace faultline {

// The hosts that it names. If no line names the machine, the source stands for it: one kernel log
// is of one machine.
std::vector<std::string> machines_of(const Finding& finding);

}  // namespace faultline
