#include "rules/picture/when/endurance.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace faultline {

void Outlived::learn(const EventTime& time, std::int64_t us) {
  const auto raise = [&](std::int64_t& kept, std::int64_t at) { kept = std::max(kept, at - us); };
  if (time.uptime_us) raise(uptime_us, *time.uptime_us);
  if (!time.wall_us) return;
  raise(wall_us[time.zone_assumed], *time.wall_us);
  if (!time.uptime_us) raise(wall_alone_us[time.zone_assumed], *time.wall_us);
}

Endurance::Endurance(std::vector<Outlived> ranks) : any_(!ranks.empty()) {
  if (ranks.empty()) return;
  std::ranges::sort(ranks, {}, &Outlived::uptime_us);
  uptime_us_ = ranks.front().uptime_us;
  wall_us_ = ranks.front().wall_us;
  std::vector<Least> least;
  for (const Outlived& rank : ranks) {
    Least with{.uptime_us = rank.uptime_us, .wall_alone_us = rank.wall_alone_us};
    for (const std::size_t zone : {0, 1}) {
      wall_us_[zone] = std::min(wall_us_[zone], rank.wall_us[zone]);
      if (least.empty()) continue;
      with.wall_alone_us[zone] =
          std::min(with.wall_alone_us[zone], least.back().wall_alone_us[zone]);
    }
    if (least.empty() || with.wall_alone_us != least.back().wall_alone_us) least.push_back(with);
  }
  least_ = std::make_shared<const std::vector<Least>>(std::move(least));
}

bool Endurance::outlives(const EventTime& time) const {
  if (!any_ || (!time.uptime_us && !time.wall_us)) return false;
  if (!time.wall_us) return uptime_us_ > *time.uptime_us;
  if (!time.uptime_us) return wall_us_[time.zone_assumed] > *time.wall_us;
  // Ranks that did not outlive it by their uptime must have done so by the wall clock.
  const auto next =
      std::ranges::upper_bound(*least_, *time.uptime_us, std::less<>(), &Least::uptime_us);
  return next == least_->begin() ||
         std::prev(next)->wall_alone_us[time.zone_assumed] > *time.wall_us;
}

}  // namespace faultline
