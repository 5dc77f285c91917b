#include "ingest/unwrap/stamps.h"

#include <array>

#include "ingest/unwrap/month_names.h"
#include "ingest/unwrap/scan.h"

namespace faultline {

namespace {

using namespace std::chrono;

constexpr std::array<std::string_view, 7> kWeekdays{"Mon", "Tue", "Wed", "Thu",
                                                    "Fri", "Sat", "Sun"};

// No kernel has been up for thirty years; a bigger number counts seconds since 1970.
constexpr std::int64_t kMaxUptimeSeconds = 1'000'000'000;

bool take_two_digits(std::string_view& rest, int& number) {
  if (rest.size() < 2 || !is_digit(rest[0]) || !is_digit(rest[1])) return false;
  number = (rest[0] - '0') * 10 + (rest[1] - '0');
  rest.remove_prefix(2);
  return true;
}

// A day without a year, and a time of day.
struct YearlessTime {
  month_day day;
  microseconds time_of_day{};
  microseconds resolution{};
};

// "Mar  5 02:47", "Mar 05 02:47:11", "Mar15 02:47": as far as the minutes.
std::optional<YearlessTime> take_month_to_minute(std::string_view& rest) {
  std::string_view text = rest;
  const unsigned month_number = take_month(text);
  if (month_number == 0) return std::nullopt;
  take_blanks(text);
  std::int64_t day_number = 0;
  int hour = 0;
  int minute = 0;
  if (!take_number(text, day_number, 2) || !take(text, ' ') || !take_two_digits(text, hour) ||
      !take(text, ':') || !take_two_digits(text, minute))
    return std::nullopt;
  const month_day date{month{month_number}, day{static_cast<unsigned>(day_number)}};
  if (!date.ok() || hour > 23 || minute > 59) return std::nullopt;
  rest = text;
  return YearlessTime{date, hours{hour} + minutes{minute}, minutes{1}};
}

// ":11" or ":11.123456"
bool take_seconds_of_minute(std::string_view& rest, YearlessTime& time) {
  std::string_view text = rest;
  int second = 0;
  if (!take(text, ':') || !take_two_digits(text, second) || second > 60) return false;
  time.time_of_day += seconds{second};
  time.resolution = seconds{1};
  std::string_view after_point = text;
  if (take(after_point, '.') && !after_point.empty() && is_digit(after_point.front())) {
    microseconds weight{100'000};
    for (const char digit : take_while(after_point, is_digit)) {
      time.time_of_day += (digit - '0') * weight;
      time.resolution = weight;
      weight /= 10;
    }
    if (time.resolution == microseconds{1}) time.resolution = microseconds{0};
    text = after_point;
  }
  rest = text;
  return true;
}

// A line is not much later than the last line before it that has a year.
constexpr days kMostAhead{31};

// In the year that brings it nearest to `reference`. 29 February exists only in some years.
std::optional<EventTime> with_year(const YearlessTime& time, Timestamp reference) {
  const year about = year_month_day{floor<days>(reference)}.year();
  std::optional<Timestamp> nearest;
  for (int shift = -4; shift <= 4; ++shift) {
    const year_month_day date{about + years{shift}, time.day.month(), time.day.day()};
    if (!date.ok()) continue;
    const Timestamp candidate = sys_days{date} + time.time_of_day;
    if (candidate > reference + kMostAhead) continue;
    if (!nearest || abs(candidate - reference) < abs(*nearest - reference)) nearest = candidate;
  }
  if (!nearest) return std::nullopt;
  return EventTime::at(*nearest, time.resolution, true);
}

template <std::size_t Count>
bool starts_with_one_of(std::string_view text, const std::array<std::string_view, Count>& names) {
  for (const std::string_view name : names)
    if (text.starts_with(name)) return true;
  return false;
}

// Whether the text has digits wherever the pattern has '0', and elsewhere the pattern's characters.
bool has_shape(std::string_view text, std::string_view pattern) {
  if (text.size() < pattern.size()) return false;
  for (std::size_t i = 0; i < pattern.size(); ++i)
    if (pattern[i] == '0' ? !is_digit(text[i]) : text[i] != pattern[i]) return false;
  return true;
}

// How many characters a zone at the front takes.
std::size_t zone_size(std::string_view text) {
  if (text.starts_with('Z')) return 1;
  if (has_shape(text, "+00:00") || has_shape(text, "-00:00")) return 6;
  if (has_shape(text, "+0000") || has_shape(text, "-0000")) return 5;
  return 0;
}

}  // namespace

std::optional<IsoStamp> take_iso_stamp(std::string_view& rest) {
  std::size_t size = 19;
  if (rest.size() < size || !has_shape(rest, "0000-00-00") ||
      !has_shape(rest.substr(11), "00:00:00"))
    return std::nullopt;
  std::size_t digits = 0;
  if (size < rest.size() && (rest[size] == '.' || rest[size] == ',')) {
    while (size + 1 + digits < rest.size() && is_digit(rest[size + 1 + digits])) ++digits;
    if (digits > 0) size += 1 + digits;
  }
  const std::size_t zone = zone_size(rest.substr(size));
  size += zone;

  bool zone_given = false;
  const auto time = parse_rfc3339(rest.substr(0, size), &zone_given);
  if (!time) return std::nullopt;
  microseconds resolution = seconds{1};
  for (std::size_t i = 0; i < digits && i < 6; ++i) resolution /= 10;
  if (digits >= 6) resolution = {};
  IsoStamp stamp{EventTime::at(*time, resolution, !zone_given), digits > 0 && rest[19] == ',',
                 zone > 1};
  rest.remove_prefix(size);
  return stamp;
}

std::optional<EventTime> take_syslog_stamp(std::string_view& rest, Timestamp reference) {
  std::string_view text = rest;
  auto time = take_month_to_minute(text);
  if (!time || !take_seconds_of_minute(text, *time)) return std::nullopt;
  const auto dated = with_year(*time, reference);
  if (dated) rest = text;
  return dated;
}

std::optional<EventTime> take_minute_stamp(std::string_view& rest, Timestamp reference) {
  std::string_view text = rest;
  const auto time = take_month_to_minute(text);
  if (!time) return std::nullopt;
  const auto dated = with_year(*time, reference);
  if (dated) rest = text;
  return dated;
}

std::optional<EventTime> take_month_day_stamp(std::string_view& rest, Timestamp reference,
                                              Fraction fraction) {
  std::string_view text = rest;
  std::int64_t date_number = 0;
  int hour = 0;
  int minute = 0;
  if (!take_number(text, date_number, 4)) return std::nullopt;
  if (int day_number = 0; take(text, '-')) {
    if (!take_two_digits(text, day_number)) return std::nullopt;
    date_number = date_number * 100 + day_number;
  }
  if (!take(text, ' ') || !take_two_digits(text, hour) || !take(text, ':') ||
      !take_two_digits(text, minute))
    return std::nullopt;
  const month_day date{month{static_cast<unsigned>(date_number / 100)},
                       day{static_cast<unsigned>(date_number % 100)}};
  if (!date.ok() || hour > 23 || minute > 59) return std::nullopt;
  YearlessTime time{date, hours{hour} + minutes{minute}, minutes{1}};
  if (!take_seconds_of_minute(text, time)) return std::nullopt;
  if (fraction == Fraction::ignored) {
    time.time_of_day = floor<seconds>(time.time_of_day);
    time.resolution = seconds{1};
  }
  const auto dated = with_year(time, reference);
  if (dated) rest = text;
  return dated;
}

namespace {

// "Thu ", or a word of another language: only the month behind it shows that it is a weekday.
bool take_weekday(std::string_view& text) {
  constexpr std::size_t kLongest = 8;  // bytes
  if (text.empty() || is_digit(text.front())) return false;
  const std::size_t end = text.substr(0, kLongest).find(' ');
  if (end == std::string_view::npos || end < 2) return false;
  text.remove_prefix(end);
  take_blanks(text);
  return true;
}

}  // namespace

std::optional<EventTime> take_ctime_stamp(std::string_view& rest) {
  std::string_view text = rest;
  if (!take_weekday(text)) return std::nullopt;
  auto time = take_month_to_minute(text);
  if (!time || !take_seconds_of_minute(text, *time) || !has_shape(text, " 0000"))
    return std::nullopt;
  std::int64_t year_number = 0;
  text.remove_prefix(1);
  if (!take_number(text, year_number, 4)) return std::nullopt;
  const year_month_day date{year{static_cast<int>(year_number)}, time->day.month(),
                            time->day.day()};
  if (!date.ok()) return std::nullopt;
  rest = text;
  return EventTime::at(sys_days{date} + time->time_of_day, time->resolution, true);
}

std::optional<std::int64_t> take_seconds(std::string_view& rest) {
  std::string_view text = rest;
  while (take(text, ' ')) {
  }
  std::int64_t whole = 0;
  std::int64_t micros = 0;
  if (!take_number(text, whole, 10) || !take(text, '.')) return std::nullopt;
  const std::size_t before = text.size();
  if (!take_number(text, micros, 6) || before - text.size() != 6 || whole > kMaxUptimeSeconds)
    return std::nullopt;
  rest = text;
  return whole * 1'000'000 + micros;
}

bool starts_with_weekday(std::string_view text) { return starts_with_one_of(text, kWeekdays); }

}  // namespace faultline
