#include "rules/picture/when/one_moment.h"

#include <cstdint>
#include <cstdlib>

namespace faultline {

bool may_be_one_moment(const EventTime& kernels, const EventTime& launchers) {
  constexpr std::int64_t kLongestUs = std::int64_t{10} * 60 * 1'000'000;
  constexpr std::int64_t kZonesUs = std::int64_t{14} * 3600 * 1'000'000;
  if (!kernels.wall_us || !launchers.wall_us) return true;
  const std::int64_t apart = std::abs(*launchers.wall_us - *kernels.wall_us);
  return apart <= kLongestUs + (kernels.zone_assumed == launchers.zone_assumed ? 0 : kZonesUs);
}

}  // namespace faultline
