#include "rules/picture/read/gpus_by_time.h"

#include <algorithm>

namespace faultline {

void GpusByTime::add(const std::string& gpu, const EventTime& time) {
  const std::size_t index = gpus_.size();
  gpus_.push_back(gpu);
  if (time.uptime_us) uptimes_.lines.emplace_back(*time.uptime_us, index);
  if (!time.wall_us) return;
  walls_.lines.emplace_back(*time.wall_us, index);
  if (!time.uptime_us) walls_alone_.lines.emplace_back(*time.wall_us, index);
}

void GpusByTime::arrange() {
  for (Clock* clock : {&uptimes_, &walls_, &walls_alone_}) arrange(*clock);
}

void GpusByTime::arrange(Clock& clock) const {
  std::ranges::sort(clock.lines);
  const std::size_t count = clock.lines.size();
  clock.tree.resize(2 * count);
  for (std::size_t i = 0; i < count; ++i) clock.tree[count + i].one = clock.lines[i].second;
  for (std::size_t i = count; i-- > 1;)
    clock.tree[i] = joined(clock.tree[2 * i], clock.tree[2 * i + 1]);
}

GpusByTime::Firsts GpusByTime::joined(Firsts a, const Firsts& b) const {
  const bool b_is_first = b.one < a.one;
  Firsts all = b_is_first ? b : a;
  const Firsts& later = b_is_first ? a : b;
  for (const std::size_t line : {later.one, later.other})
    if (line < all.other && gpus_[line] != gpus_[all.one]) all.other = line;
  return all;
}

GpusByTime::Firsts GpusByTime::firsts_in(const Clock& clock, std::int64_t from,
                                         std::int64_t to) const {
  const std::size_t count = clock.lines.size();
  const auto begin = std::ranges::lower_bound(clock.lines, std::pair(from, std::size_t{0}));
  const auto end = std::ranges::upper_bound(clock.lines, std::pair(to, kNone));
  auto left = count + static_cast<std::size_t>(begin - clock.lines.begin());
  auto right = count + static_cast<std::size_t>(end - clock.lines.begin());
  Firsts firsts;
  for (; left < right; left /= 2, right /= 2) {
    if (left % 2 != 0) firsts = joined(firsts, clock.tree[left++]);
    if (right % 2 != 0) firsts = joined(firsts, clock.tree[--right]);
  }
  return firsts;
}

std::string GpusByTime::first_near(const EventTime& time, std::int64_t from_us, std::int64_t to_us,
                                   const std::string& but) const {
  Firsts firsts;
  if (time.uptime_us)
    firsts = firsts_in(uptimes_, *time.uptime_us + from_us, *time.uptime_us + to_us);
  if (time.wall_us)
    firsts = joined(firsts, firsts_in(time.uptime_us ? walls_alone_ : walls_,
                                      *time.wall_us + from_us, *time.wall_us + to_us));
  const std::size_t line =
      firsts.one != kNone && gpus_[firsts.one] == but ? firsts.other : firsts.one;
  return line == kNone ? std::string() : gpus_[line];
}

}  // namespace faultline
