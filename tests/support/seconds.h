// Times of tests, in seconds after a moment that all of them share.
#pragma once

#include "model/time.h"

namespace faultline {

inline EventTime at(int second) {
  return EventTime::at(Timestamp(std::chrono::seconds(1'800'000'000 + second)));
}

}  // namespace faultline
