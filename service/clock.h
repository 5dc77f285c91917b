// The time of day. Only service/, http/ and app/ read it; lower layers take it as an argument.
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

// The processor time that this thread has used. Unlike elapsed time, it leaves out the work of
// other threads.
inline std::chrono::nanoseconds processor_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

}  // namespace faultline
