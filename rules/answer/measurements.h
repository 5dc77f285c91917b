// What was measured of networks and collectives, in words; said even if it accuses nobody.
#pragma once

#include <string>

#include "rules/picture/view.h"

namespace faultline {

// "Measured: iperf3 94.3 Gbits/sec to gpu-8."; empty: nothing was.
std::string measured_in_words(const View& view);

}  // namespace faultline
