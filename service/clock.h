// The time of day. Only http/ and app/ read it; what they ask takes it as an argument.
#pragma once

#include <chrono>
#include <ctime>

#include "model/time.h"

namespace faultline {

inline Timestamp utc_now() {
  return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
}

using SteadyTime = std::chrono::steady_clock::time_point;

inline SteadyTime steady_now() { return std::chrono::steady_clock::now(); }

// What this thread has taken of a processor so far: unlike the time of day, no other's work is in
// it.
inline std::chrono::nanoseconds processor_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

}  // namespace faultline
