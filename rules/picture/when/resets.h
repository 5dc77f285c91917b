// GPUs that somebody reset, as the driver tells when it is done (Xid 154 to None): links to them go
// down and come up, and their peers and switches print errors of it.
#pragma once

#include <string>

#include "rules/picture/view.h"

namespace faultline {

// The GPU of this log whose reset was about then; empty: none was. `but`: not this one.
std::string reset_near(const View& view, std::uint32_t source, const std::string& spoken_host,
                       std::uint64_t boot, const EventTime& time, const std::string& but = "");

}  // namespace faultline
