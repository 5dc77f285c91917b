// When a host started, as people and /proc/stat say it.
#pragma once

#include <optional>
#include <string_view>

#include "model/time.h"

namespace faultline {

// RFC 3339, or seconds since 1970 as `btime` in /proc/stat has them.
std::optional<Timestamp> parse_boot_time(std::string_view text);

}  // namespace faultline
