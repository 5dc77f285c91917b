// Makes the times of one job comparable: corrects clocks that are off, and gives each time as the
// range in which it lies.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/finding.h"
#include "rules/answer/heard.h"

namespace faultline {

// The earliest and the latest that a time can be.
struct Leeway {
  Timestamp from;
  Timestamp to;
};

// The first and the last time that something was heard.
struct Reach {
  Leeway first;
  Leeway last;
};
void widen(std::optional<Reach>& all, const Reach& reach);

class PutRight {
 public:
  PutRight(const Diagnosis& diagnosis, const Heard& heard);

  // Some stamps name their time zone and others do not: these may be hours off.
  bool zones_differ() const { return zones_differ_; }
  bool is_any_clock_off() const { return !ahead_.empty(); }

  // What a stamp would say if the clock of its host were right.
  Timestamp stamp(const std::string& host, Timestamp time) const { return time - ahead(host); }
  // The range of the time. Without `open`, the digits of the stamp say how exact it is.
  Leeway between(const std::string& host, Timestamp time,
                 std::optional<std::chrono::microseconds> open = std::nullopt) const;
  Leeway of_event(const TimelineEntry& entry) const;

  std::optional<Reach> reach_of(const HeardRank& rank) const;       // nullopt: no line is dated
  std::optional<Reach> firm_reach_of(const HeardRank& rank) const;  // by times with a sure zone

 private:
  std::chrono::microseconds ahead(const std::string& host) const;
  std::optional<Reach> reach(const std::string& host, const std::optional<Stamp>& first,
                             const std::optional<Stamp>& last) const;

  const Heard& heard_;
  std::map<std::string, std::chrono::microseconds> ahead_;  // by host
  bool zones_differ_ = false;
};

// "2026-03-05 02:00:01 to 02:46:58 UTC", "at 2026-03-05 02:00:01"
std::string stretch_in_words(Timestamp from, Timestamp to, bool names_zone);

}  // namespace faultline
