// Which machines a finding tells of.
#pragma once

#include <string>
#include <vector>

#include "model/finding.h"

namespace faultline {

// The hosts that it names. Where no line names the machine, the source stands for it: what one
// kernel log tells is of one machine.
std::vector<std::string> machines_of(const Finding& finding);

}  // namespace faultline
