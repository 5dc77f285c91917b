// The time of day. Only http/ and app/ read it; what they ask takes it as an argument.
#pragma once

#include <chrono>

#include "model/time.h"

namespace faultline {

inline Timestamp utc_now() {
  return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
}

using SteadyTime = std::chrono::steady_clock::time_point;

inline SteadyTime steady_now() { return std::chrono::steady_clock::now(); }

}  // namespace faultline
