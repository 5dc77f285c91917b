// The stamps that wrappers put on lines. Each function takes one off the front of `rest`, or says
// no and leaves `rest` alone.
#pragma once

#include <optional>
#include <string_view>

#include "model/time.h"

namespace faultline {

struct IsoStamp {
  EventTime time;
  bool comma = false;        // before the fraction: dmesg's way
  bool offset_zone = false;  // +00:00 rather than Z or nothing: syslog's way
};

// 2026-03-05T02:47:11.123456789Z, with ',' for '.', a blank for 'T', other zones or none.
std::optional<IsoStamp> take_iso_stamp(std::string_view& rest);

// Mar  5 02:47:11 or Mar 05 02:47:11.123456: no year, no zone.
std::optional<EventTime> take_syslog_stamp(std::string_view& rest, Timestamp reference);

// Mar 5 02:47 or Mar15 02:47: the line with which `dmesg -e` begins a minute.
std::optional<EventTime> take_minute_stamp(std::string_view& rest, Timestamp reference);

// Tue Mar  5 02:47:11 2026, as ctime() prints it.
std::optional<EventTime> take_ctime_stamp(std::string_view& rest);

enum class Fraction { counts, ignored };

// 305 02:47:11.123456789 or 1028 12:13:38.405081: month * 100 + day, no year, no zone. Or with a
// dash between the two: 03-05 02:47:11.
std::optional<EventTime> take_month_day_stamp(std::string_view& rest, Timestamp reference,
                                              Fraction fraction);

// "   12.345678", in microseconds: the kernel's own stamp, without its brackets.
std::optional<std::int64_t> take_seconds(std::string_view& rest);

bool starts_with_weekday(std::string_view text);

}  // namespace faultline
