#include "rules/answer/put_right.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rules/answer/html_parts.h"

namespace faultline {
namespace {

using std::chrono::microseconds;

constexpr microseconds kTrusted = std::chrono::seconds(2);  // clocks of different hosts

// A stamp without a fraction comes from a log that prints whole seconds.
microseconds open_by_digits(Timestamp time) {
  const std::string text = to_rfc3339(time);
  const std::size_t point = text.find('.');
  if (point == text.npos) return std::chrono::seconds(1);
  const std::size_t digits = text.find_first_not_of("0123456789", point + 1) - point - 1;
  return microseconds(static_cast<std::int64_t>(std::pow(10.0, 6 - static_cast<double>(digits))));
}

bool do_zones_differ(const Heard& heard) {
  bool named = false;
  bool assumed = false;
  const auto see = [&](const Stamp& stamp) { (stamp.zone_assumed ? assumed : named) = true; };
  for (const HeardRank& rank : heard.ranks)
    for (const auto* stamp : {&rank.first, &rank.last, &rank.firm_last})
      if (*stamp) see(**stamp);
  for (const auto& [finding, stamp] : heard.dated) see(stamp);
  return named && assumed;
}

}  // namespace

void widen(std::optional<Reach>& all, const Reach& reach) {
  if (!all) all = reach;
  all->first = {std::min(all->first.from, reach.first.from),
                std::max(all->first.to, reach.first.to)};
  all->last = {std::min(all->last.from, reach.last.from), std::max(all->last.to, reach.last.to)};
}

PutRight::PutRight(const Diagnosis& diagnosis, const Heard& heard)
    : heard_(heard), zones_differ_(do_zones_differ(heard)) {
  for (const ClockOffset& clock : diagnosis.clock_offsets)
    ahead_[clock.host] = microseconds(std::llround(clock.seconds * 1e6));
}

microseconds PutRight::ahead(const std::string& host) const {
  const auto known = ahead_.find(host);
  return known == ahead_.end() ? microseconds(0) : known->second;
}

// A corrected clock is right to kTrusted.
Leeway PutRight::between(const std::string& host, Timestamp time,
                         std::optional<microseconds> open) const {
  const microseconds margin = ahead_.contains(host) ? kTrusted : microseconds(0);
  const Timestamp right = stamp(host, time);
  return {right - margin, right + open.value_or(open_by_digits(time)) + margin};
}

// The entry's time is corrected already, and between() corrects again: so undo it first.
Leeway PutRight::of_event(const TimelineEntry& entry) const {
  const auto known = heard_.dated.find(entry.finding);
  return between(entry.host, *entry.time + ahead(entry.host),
                 known == heard_.dated.end() ? std::nullopt : std::optional(known->second.open));
}

std::optional<Reach> PutRight::reach(const std::string& host, const std::optional<Stamp>& first,
                                     const std::optional<Stamp>& last) const {
  if (!first || !last) return std::nullopt;
  return Reach{between(host, first->time, first->open), between(host, last->time, last->open)};
}

std::optional<Reach> PutRight::reach_of(const HeardRank& rank) const {
  return reach(rank.host, rank.first, rank.last);
}

std::optional<Reach> PutRight::firm_reach_of(const HeardRank& rank) const {
  return zones_differ_ ? reach(rank.host, rank.firm_first, rank.firm_last) : reach_of(rank);
}

std::string stretch_in_words(Timestamp from, Timestamp to, bool names_zone) {
  constexpr std::string_view kZone = " UTC";
  constexpr std::size_t kDay = std::string_view("2026-03-05 ").size();
  const auto clock = [&](Timestamp time) {
    const std::string text = clock_in_html(time);
    return text.substr(0, text.size() - kZone.size());
  };
  const std::string begin = clock(from);
  const std::string end = clock(to);
  const std::string_view zone = names_zone ? kZone : "";
  if (begin == end) return fmt::format("at {}{}", end, zone);
  const bool same_day = begin.substr(0, kDay) == end.substr(0, kDay);
  return fmt::format("{} to {}{}", begin, same_day ? end.substr(kDay) : end, zone);
}

}  // namespace faultline
