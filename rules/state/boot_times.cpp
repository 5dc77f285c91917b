#define XXH_INLINE_ALL
#include "rules/state/boot_times.h"

#include <xxhash.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace faultline {
namespace {

constexpr std::int64_t kSecondUs = 1'000'000;
constexpr std::int64_t kOwnErrorUs = kSecondUs;  // the error of any boot time, in both directions

// Console lines may come late, and parts of a crash dump are in reverse order. An uptime that falls
// further belongs to another boot.
constexpr std::int64_t kFallUs = 600 * kSecondUs;
// Stamps within one boot agree this well about its start.
constexpr std::int64_t kAgreeUs = 120 * kSecondUs;
// Messages that logs share must agree this well, or they are not the same.
constexpr std::int64_t kSharedUs = 5 * kSecondUs;

constexpr std::size_t kMostClocks = 16384;
constexpr std::size_t kMostBoots = 1024;
constexpr std::size_t kMostShared = 256;

std::int64_t distance(std::int64_t a, std::int64_t b) { return a < b ? b - a : a - b; }

std::uint64_t hash_of(std::string_view text, std::uint64_t seed) {
  return XXH3_64bits_withSeed(text.data(), text.size(), seed);
}

// Identifies a message among those of its host; 0: logs do not share such messages.
std::uint64_t identity_of(const Fact& fact) {
  if (const auto* xid = std::get_if<GpuXid>(&fact))
    return hash_of(xid->gpu,
                   hash_of(xid->detail, static_cast<std::uint64_t>(xid->code) * 4194304 +
                                            static_cast<std::uint64_t>(xid->pid.value_or(0))));
  if (const auto* error = std::get_if<SwitchError>(&fact))
    return hash_of(error->nvswitch,
                   hash_of(error->detail, static_cast<std::uint64_t>(error->code)));
  if (const auto* remark = std::get_if<Remark>(&fact))
    return remark->dialect == "kernel" ? hash_of(remark->text, 1) : 0;
  return 0;
}

}  // namespace

void BootTimes::apply(std::uint32_t source, const std::string& host, const Event& event) {
  anchors_.forget();
  const bool booted = std::holds_alternative<HostBooted>(event.fact);
  const auto* reading = std::get_if<ClockReading>(&event.fact);
  if (reading != nullptr && reading->teller == "sender")
    return tell(source, event, reading->wall_us);
  const bool tells_time =
      booted || reading != nullptr || event.time.uptime_us || identity_of(event.fact) != 0;
  SourceClock* clock = clock_of(source, host, tells_time);
  if (clock == nullptr) return;
  if (!std::exchange(clock->spoke, true)) speaking_[source].push_back(host);
  if (!tells_time) return;
  // A banner at the beginning of the log does not end an earlier boot.
  const bool after_others = clock->last_uptime_us.value_or(0) > 0;
  if ((booted && after_others) || is_new_boot(*clock, event.time)) begin_boot(*clock, event.line);
  if (event.time.uptime_us)
    clock->last_uptime_us = std::max<std::int64_t>(*event.time.uptime_us, 1);
  learn(source, *clock, event);
}

BootTimes::SourceClock* BootTimes::clock_of(std::uint32_t source, const std::string& host,
                                            bool make) {
  auto known = clocks_.find({source, host});
  if (known != clocks_.end()) return &known->second;
  if (!make || clocks_.size() >= kMostClocks) return nullptr;
  return &clocks_[{source, host}];
}

const BootTimes::SourceClock* BootTimes::only_clock_of(std::uint32_t source) const {
  const auto first = clocks_.lower_bound({source, std::string()});
  if (first == clocks_.end() || first->first.first != source) return nullptr;
  const auto next = std::next(first);
  return next == clocks_.end() || next->first.first != source ? &first->second : nullptr;
}

void BootTimes::tell(std::uint32_t source, const Event& event, std::int64_t boot_us) {
  const auto [known, is_new] = told_.try_emplace(source, boot_us);
  const std::int64_t before = std::exchange(known->second, boot_us);
  if (is_new || distance(before, boot_us) <= kAgreeUs) return;
  for (const std::string& host : std::exchange(speaking_[source], {})) {
    SourceClock& clock = clocks_[{source, host}];
    clock.spoke = false;
    Boot& ended = clock.boots.back();
    if (!ended.first) ended.first = ended.last = Anchor{.boot_us = before};
    begin_boot(clock, event.line);
  }
}

void BootTimes::begin_boot(SourceClock& clock, std::uint64_t line) {
  clock.last_uptime_us.reset();
  if (clock.boots.size() < kMostBoots)
    clock.boots.push_back({.first_line = line});
  else
    clock.boots.back() = {.first_line = clock.boots.back().first_line};
}

bool BootTimes::is_new_boot(const SourceClock& clock, const EventTime& time) {
  if (!time.uptime_us || !clock.last_uptime_us) return false;
  if (*time.uptime_us + kFallUs > *clock.last_uptime_us) return false;
  // The same start of the boot shows logs that were joined in the wrong order.
  const std::optional<Anchor>& known = clock.boots.back().last;
  return !known || !time.wall_us ||
         distance(known->boot_us, *time.wall_us - *time.uptime_us) > kAgreeUs;
}

void BootTimes::learn(std::uint32_t source, SourceClock& clock, const Event& event) {
  EventTime time = event.time;
  if (const auto* reading = std::get_if<ClockReading>(&event.fact)) {
    time.wall_us = reading->wall_us;
    time.uncertainty_us = kSecondUs;
    time.zone_assumed = false;
  }
  Boot& boot = clock.boots.back();
  if (time.wall_us && time.uptime_us) {
    const Anchor anchor{.boot_us = *time.wall_us - *time.uptime_us,
                        .uptime_us = *time.uptime_us,
                        .uncertainty_us = time.uncertainty_us,
                        .zone_assumed = time.zone_assumed};
    if (!boot.first) boot.first = anchor;
    boot.last = anchor;
  }
  const std::uint64_t identity = identity_of(event.fact);
  if (identity == 0 || (!time.wall_us && !time.uptime_us)) return;
  auto known = clock.shared.find(identity);
  if (known == clock.shared.end()) {
    if (clock.shared.size() >= kMostShared) return;
    known = clock.shared.emplace(identity, Shared{}).first;
    known->second.time = time;
    known->second.boot = clock.boots.size() - 1;
    if (time.wall_us) with_wall_.insert(source);
  }
  ++known->second.count;
}

std::uint64_t BootTimes::boots(std::uint32_t source, const std::string& host) const {
  const auto clock = clocks_.find({source, host});
  return clock == clocks_.end() ? 0 : clock->second.boots.size() - 1;
}

std::uint64_t BootTimes::boots_before(std::uint32_t source, const std::string& host,
                                      std::uint64_t line) const {
  const auto clock = clocks_.find({source, host});
  return clock == clocks_.end() ? 0 : boot_at(clock->second, line);
}

std::size_t BootTimes::boot_at(const SourceClock& clock, std::uint64_t line) {
  const auto next = std::ranges::upper_bound(clock.boots, line, std::less<>(), &Boot::first_line);
  return next == clock.boots.begin() ? 0 : static_cast<std::size_t>(next - clock.boots.begin()) - 1;
}

EventTime BootTimes::dated(const LineRef& line, const HostOf& host_of) const {
  if (line.time.wall_us || !line.time.uptime_us) return line.time;
  const SourceClock* clock = only_clock_of(line.source);
  if (clock == nullptr) return line.time;
  const std::size_t boot = boot_at(*clock, line.line);
  const std::optional<Anchor> anchor =
      anchor_of(line.source, *clock, boot, *line.time.uptime_us, host_of);
  if (!anchor) return line.time;
  EventTime time = line.time;
  time.wall_us = anchor->boot_us + *line.time.uptime_us - kOwnErrorUs;
  time.uncertainty_us = anchor->uncertainty_us + 2 * kOwnErrorUs;
  time.zone_assumed = anchor->zone_assumed;
  return time;
}

std::optional<BootTimes::Anchor> BootTimes::anchor_of(std::uint32_t source,
                                                      const SourceClock& clock, std::size_t boot,
                                                      std::int64_t uptime_us,
                                                      const HostOf& host_of) const {
  const Boot& of = clock.boots[boot];
  if (of.first && of.last)
    return distance(of.first->uptime_us, uptime_us) < distance(of.last->uptime_us, uptime_us)
               ? of.first
               : of.last;
  if (const auto told = told_.find(source); told != told_.end() && boot + 1 == clock.boots.size())
    return Anchor{.boot_us = told->second};
  return anchor_from_others(source, clock, boot, host_of);
}

std::optional<BootTimes::Anchor> BootTimes::anchor_from_others(std::uint32_t source,
                                                               const SourceClock& clock,
                                                               std::size_t boot,
                                                               const HostOf& host_of) const {
  if (clock.shared.empty() || with_wall_.empty()) return std::nullopt;
  if (const auto known = anchors_.of({source, boot})) return *known;
  const std::optional<Anchor> found = find_in_others(source, clock, boot, host_of);
  anchors_.keep({source, boot}, found);
  return found;
}

// Uses only messages that both logs hold exactly once, and only if all of them agree.
std::optional<BootTimes::Anchor> BootTimes::find_in_others(std::uint32_t source,
                                                           const SourceClock& clock,
                                                           std::size_t boot,
                                                           const HostOf& host_of) const {
  const std::string host = host_of(source);
  if (host.empty()) return std::nullopt;
  std::optional<Anchor> found;
  for (const std::uint32_t other : with_wall_) {
    if (other == source || host_of(other) != host) continue;
    for (auto theirs = clocks_.lower_bound({other, std::string()});
         theirs != clocks_.end() && theirs->first.first == other; ++theirs)
      for (const auto& [identity, mine] : clock.shared) {
        if (mine.count != 1 || mine.boot != boot || !mine.time.uptime_us) continue;
        const auto twin = theirs->second.shared.find(identity);
        if (twin == theirs->second.shared.end() || twin->second.count != 1) continue;
        const EventTime& time = twin->second.time;
        if (!time.wall_us) continue;
        if (time.uptime_us && distance(*time.uptime_us, *mine.time.uptime_us) > kSecondUs) continue;
        const Anchor anchor{.boot_us = *time.wall_us - *mine.time.uptime_us,
                            .uptime_us = *mine.time.uptime_us,
                            .uncertainty_us = time.uncertainty_us,
                            .zone_assumed = time.zone_assumed};
        if (found && distance(found->boot_us, anchor.boot_us) > kSharedUs) return std::nullopt;
        if (!found) found = anchor;
      }
  }
  return found;
}

}  // namespace faultline
