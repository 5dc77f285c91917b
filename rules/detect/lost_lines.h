#pragma once

#include "rules/detect/detector.h"

namespace faultline {

// What is told by calls is told worse, the more of their lines are missing. loss: their share.
void doubt_lost_lines(double loss, Sureness& sure);

}  // namespace faultline
