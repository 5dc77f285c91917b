#include "rules/picture/when/between.h"

namespace faultline {

std::optional<std::int64_t> microseconds_between(const EventTime& from, const EventTime& to) {
  if (from.uptime_us && to.uptime_us) return *to.uptime_us - *from.uptime_us;
  if (from.wall_us && to.wall_us && from.zone_assumed == to.zone_assumed)
    return *to.wall_us - *from.wall_us;
  return std::nullopt;
}

}  // namespace faultline
