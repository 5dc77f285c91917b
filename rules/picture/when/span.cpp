#include "rules/picture/when/span.h"

#include <algorithm>

namespace faultline {

JobSpan::JobSpan(const View& view) {
  for (std::size_t index : view.members) {
    const Member& member = view.member(index);
    const EventTime& time = (member.init_line.known() ? member.init_line : member.last_line).time;
    if (!time.known()) continue;
    const auto alike = std::ranges::find(first_, time.zone_assumed, &EventTime::zone_assumed);
    if (alike == first_.end())
      first_.push_back(time);
    else if (time.wall_us < alike->wall_us)
      *alike = time;
  }
}

bool JobSpan::is_before(const EventTime& time) const {
  bool before = false;
  for (const EventTime& first : first_) {
    const Order order = order_of(time, first, false);
    if (order == Order::after) return false;
    before |= order == Order::before;
  }
  return before;
}

}  // namespace faultline
