// Times of one job beside each other: those of clocks that are off put right, each as wide as what
// is known of it.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/finding.h"
#include "rules/answer/heard.h"

namespace faultline {

// From the earliest to the latest that it can be.
struct Leeway {
  Timestamp from;
  Timestamp to;
};

// What was heard first and last.
struct Reach {
  Leeway first;
  Leeway last;
};
void widen(std::optional<Reach>& all, const Reach& reach);

class PutRight {
 public:
  PutRight(const Diagnosis& diagnosis, const Heard& heard);

  // Stamps that name their zone stand beside others that name none, which may be hours off.
  bool zones_differ() const { return zones_differ_; }
  bool is_any_clock_off() const { return !ahead_.empty(); }

  // What a stamp would say if the clock of its host were right.
  Timestamp stamp(const std::string& host, Timestamp time) const { return time - ahead(host); }
  // As wide as its digits leave open, unless that is known.
  Leeway between(const std::string& host, Timestamp time,
                 std::optional<std::chrono::microseconds> open = std::nullopt) const;
  Leeway of_event(const TimelineEntry& entry) const;

  std::optional<Reach> reach_of(const HeardRank& rank) const;       // nothing: no line is dated
  std::optional<Reach> firm_reach_of(const HeardRank& rank) const;  // that no zone makes doubtful

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
