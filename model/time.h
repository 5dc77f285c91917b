// Points in time, and how exactly they are known.
//
// All of the program uses UTC with microseconds; local time exists only where lines are unwrapped.
#pragma once

#include <boost/describe.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace faultline {

using Timestamp = std::chrono::sys_time<std::chrono::microseconds>;

// 2026-03-05T02:47:11.123Z; microseconds are printed when there are any.
std::string to_rfc3339(Timestamp time);

// Accepts 'T' or a blank between date and time, '.' or ',' before the fraction, and a zone of Z,
// +hh:mm, +hhmm or none (then it is read as UTC and *zone_given, if asked for, is false).
std::optional<Timestamp> parse_rfc3339(std::string_view text, bool* zone_given = nullptr);

// When something happened, as exactly as its line says. All is empty if the line has no time.
struct EventTime {
  std::optional<std::int64_t> wall_us;    // microseconds since 1970, UTC
  std::int64_t uncertainty_us = 0;        // the stamp's resolution: wall_us .. wall_us + this
  bool zone_assumed = false;              // the stamp named no zone; it was read as UTC
  std::optional<std::int64_t> uptime_us;  // microseconds since the host booted

  bool known() const { return wall_us.has_value(); }
  std::optional<Timestamp> wall() const;

  static EventTime at(Timestamp time, std::chrono::microseconds uncertainty = {},
                      bool zone_assumed = false);
  static EventTime since_boot(std::int64_t uptime_us);

  bool operator==(const EventTime&) const = default;
};
BOOST_DESCRIBE_STRUCT(EventTime, (), (wall_us, uncertainty_us, zone_assumed, uptime_us))

enum class Order { before, after, cannot_tell };

// Whether a happened before b. Wall clocks of different hosts are trusted to two seconds; between a
// stamp with a zone and one without, to 14 hours. Uptimes count only if both are of one host.
Order order_of(const EventTime& a, const EventTime& b, bool same_host);

}  // namespace faultline
