// GPUs that were reset, by the driver's line when a reset is done (Xid 154 to None). A reset takes
// links of the GPU down and up, and peers and switches print errors about it.
#pragma once

#include <string>

#include "rules/picture/view.h"

namespace faultline {

// The GPU of this log that was reset at about that time; empty: none. `but`: a GPU to leave out.
std::string reset_near(const View& view, const BootOfLog& boot, const EventTime& time,
                       const std::string& but = "");

}  // namespace faultline
