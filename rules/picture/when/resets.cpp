#include "rules/picture/when/resets.h"

#include "rules/picture/read/xids_by_place.h"

namespace faultline {
namespace {

constexpr std::int64_t kBeforeUs = 30'000'000;  // a reset takes this long
constexpr std::int64_t kAfterUs = 5'000'000;

}  // namespace

std::string reset_near(const View& view, const BootOfLog& boot, const EventTime& time,
                       const std::string& but) {
  for (const auto& [incident, done] : view.xids().of(boot).resets) {
    const bool uptimes = done.uptime_us && time.uptime_us;
    if (!uptimes && (!done.wall_us || !time.wall_us)) continue;
    const std::int64_t ahead =
        uptimes ? *done.uptime_us - *time.uptime_us : *done.wall_us - *time.wall_us;
    if (ahead <= kBeforeUs && ahead >= -kAfterUs && incident->gpu != but) return incident->gpu;
  }
  return {};
}

}  // namespace faultline
