// Points in time as logs write them, all in UTC.
#pragma once

#include <string>

#include "model/time.h"

namespace faultline::simulation {

using std::chrono::microseconds;

std::string day_and_second(Timestamp time);    // 2026-03-05 02:46:59
std::string nanosecond_stamp(Timestamp time);  // 2026-03-05T02:46:59.120045000Z
std::string short_iso(Timestamp time);         // 2026-03-05T02:46:59+0000
std::string syslog_stamp(Timestamp time);      // Mar  5 02:46:59
std::string ctime_stamp(Timestamp time);       // Thu Mar  5 02:46:59 2026

}  // namespace faultline::simulation
