#include "model/time.h"

#include <fmt/format.h>

#include <algorithm>

namespace faultline {

namespace {

using namespace std::chrono;

// The most by which the clocks of hosts that use NTP differ.
constexpr std::int64_t kClockSkewUs = 2'000'000;

// Zones reach from UTC-12 to UTC+14, so a stamp without a zone may be this far off.
constexpr std::int64_t kZoneSpanUs = std::int64_t{14} * 3600 * 1'000'000;

// Reads from the front of a text. After the first mismatch, everything fails.
class Fields {
 public:
  explicit Fields(std::string_view text) : rest_(text) {}

  int number(std::size_t digits) {
    int value = 0;
    if (rest_.size() < digits) ok_ = false;
    for (std::size_t i = 0; ok_ && i < digits; ++i) {
      if (rest_[i] < '0' || rest_[i] > '9') ok_ = false;
      value = value * 10 + (rest_[i] - '0');
    }
    if (ok_) rest_.remove_prefix(digits);
    return value;
  }

  void one_of(std::string_view characters) {
    if (!next_is(characters)) ok_ = false;
    if (ok_) rest_.remove_prefix(1);
  }

  bool next_is(std::string_view characters) const {
    return !rest_.empty() && characters.find(rest_.front()) != std::string_view::npos;
  }

  // Digits after the point, as microseconds; further digits are cut off.
  int fraction() {
    int value = 0;
    int weight = 100'000;
    if (!next_is("0123456789")) ok_ = false;
    for (; next_is("0123456789"); rest_.remove_prefix(1), weight /= 10)
      value += (rest_.front() - '0') * weight;
    return value;
  }

  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// The first microsecond after the span that the stamp can mean.
std::int64_t end_of(const EventTime& time) {
  return *time.wall_us + std::max<std::int64_t>(time.uncertainty_us, 1);
}

Order order_of_walls(const EventTime& a, const EventTime& b, bool same_host) {
  if (!a.known() || !b.known()) return Order::cannot_tell;
  std::int64_t slack = same_host ? 0 : kClockSkewUs;
  if (a.zone_assumed != b.zone_assumed) slack += kZoneSpanUs;
  if (end_of(a) + slack <= *b.wall_us) return Order::before;
  if (end_of(b) + slack <= *a.wall_us) return Order::after;
  return Order::cannot_tell;
}

}  // namespace

std::string to_rfc3339(Timestamp time) {
  const auto day = floor<days>(time);
  const year_month_day date{day};
  const hh_mm_ss clock{time - day};
  const auto micros = clock.subseconds().count();
  std::string text =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  clock.hours().count(), clock.minutes().count(), clock.seconds().count());
  if (micros % 1000 != 0)
    fmt::format_to(std::back_inserter(text), ".{:06}", micros);
  else if (micros != 0)
    fmt::format_to(std::back_inserter(text), ".{:03}", micros / 1000);
  return text + 'Z';
}

std::optional<Timestamp> parse_rfc3339(std::string_view text, bool* zone_given) {
  Fields fields(text);
  const int year_number = fields.number(4);
  fields.one_of("-");
  const int month_number = fields.number(2);
  fields.one_of("-");
  const int day_number = fields.number(2);
  fields.one_of("T ");
  const int hour = fields.number(2);
  fields.one_of(":");
  const int minute = fields.number(2);
  fields.one_of(":");
  const int second = fields.number(2);
  int micros = 0;
  if (fields.next_is(".,")) {
    fields.one_of(".,");
    micros = fields.fraction();
  }
  const bool zoned = !fields.at_end();
  int offset_minutes = 0;
  if (fields.next_is("Z")) {
    fields.one_of("Z");
  } else if (zoned) {
    const int sign = fields.next_is("-") ? -1 : 1;
    fields.one_of("+-");
    const int hours_off = fields.number(2);
    if (fields.next_is(":")) fields.one_of(":");
    const int minutes_off = fields.number(2);
    if (hours_off > 23 || minutes_off > 59) return std::nullopt;
    offset_minutes = sign * (hours_off * 60 + minutes_off);
  }
  if (!fields.ok() || !fields.at_end()) return std::nullopt;

  const year_month_day date{year{year_number}, month{static_cast<unsigned>(month_number)},
                            day{static_cast<unsigned>(day_number)}};
  // 60 is a leap second.
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  if (zone_given != nullptr) *zone_given = zoned;
  return sys_days{date} + hours{hour} + minutes{minute - offset_minutes} + seconds{second} +
         microseconds{micros};
}

std::optional<Timestamp> EventTime::wall() const {
  if (!wall_us) return std::nullopt;
  return Timestamp{microseconds{*wall_us}};
}

EventTime EventTime::at(Timestamp time, microseconds uncertainty, bool zone_assumed) {
  EventTime at;
  at.wall_us = time.time_since_epoch().count();
  at.uncertainty_us = uncertainty.count();
  at.zone_assumed = zone_assumed;
  return at;
}

EventTime EventTime::since_boot(std::int64_t uptime_us) {
  EventTime since;
  since.uptime_us = uptime_us;
  return since;
}

Order order_of(const EventTime& a, const EventTime& b, bool same_host) {
  const Order by_wall = order_of_walls(a, b, same_host);
  if (!same_host || !a.uptime_us || !b.uptime_us) return by_wall;
  const Order by_uptime = *a.uptime_us < *b.uptime_us   ? Order::before
                          : *a.uptime_us > *b.uptime_us ? Order::after
                                                        : Order::cannot_tell;
  // Uptimes are exact within one boot. If the wall clock says the opposite, the host was restarted
  // in between.
  return by_wall == Order::cannot_tell || by_wall == by_uptime ? by_uptime : by_wall;
}

}  // namespace faultline
