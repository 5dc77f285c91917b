#include "simulate/calendar.h"

#include <fmt/format.h>

namespace faultline::simulation {
namespace {

struct Parts {
  int year, month, day, weekday, hour, minute, second, microsecond;
};

Parts parts(Timestamp time) {
  const auto midnight = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{midnight};
  const auto us = (time - midnight).count();
  return {static_cast<int>(date.year()),
          static_cast<int>(static_cast<unsigned>(date.month())),
          static_cast<int>(static_cast<unsigned>(date.day())),
          static_cast<int>(std::chrono::weekday{midnight}.c_encoding()),
          static_cast<int>(us / 3'600'000'000),
          static_cast<int>(us / 60'000'000 % 60),
          static_cast<int>(us / 1'000'000 % 60),
          static_cast<int>(us % 1'000'000)};
}

constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

}  // namespace

std::string day_and_second(Timestamp time) {
  const Parts p = parts(time);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", p.year, p.month, p.day, p.hour,
                     p.minute, p.second);
}

std::string nanosecond_stamp(Timestamp time) {
  const Parts p = parts(time);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}000Z", p.year, p.month, p.day,
                     p.hour, p.minute, p.second, p.microsecond);
}

std::string short_iso(Timestamp time) {
  const Parts p = parts(time);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}+0000", p.year, p.month, p.day, p.hour,
                     p.minute, p.second);
}

std::string syslog_stamp(Timestamp time) {
  const Parts p = parts(time);
  return fmt::format("{} {:2} {:02}:{:02}:{:02}", kMonths[p.month - 1], p.day, p.hour, p.minute,
                     p.second);
}

std::string ctime_stamp(Timestamp time) {
  const Parts p = parts(time);
  return fmt::format("{} {} {:2} {:02}:{:02}:{:02} {:04}", kDays[p.weekday], kMonths[p.month - 1],
                     p.day, p.hour, p.minute, p.second, p.year);
}

}  // namespace faultline::simulation
