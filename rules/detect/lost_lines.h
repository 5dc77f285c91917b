#pragma once

#include "rules/detect/detector.h"

namespace faultline {

// Lowers the confidence of a finding about calls the more, the more of their lines are missing.
// loss: the share that is missing.
void doubt_lost_lines(double loss, Sureness& sure);

}  // namespace faultline
