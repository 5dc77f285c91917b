// Pace: when work that is asked for often, and may cost much, is done again. What costs little is
// done whenever it is asked for; of what costs much, no more than a part of the time is spent.
#pragma once

#include <chrono>
#include <mutex>

#include "service/clock.h"

namespace faultline {

class Pace {
 public:
  using Duration = SteadyTime::duration;

  bool is_too_soon(SteadyTime now) const {
    const std::lock_guard lock(mutex_);
    return cost_ > kCheap && now - begun_ < cost_ * kOneIn;
  }

  void begin(SteadyTime now) {
    const std::lock_guard lock(mutex_);
    begun_ = now;
  }

  void end(Duration cost) {
    const std::lock_guard lock(mutex_);
    cost_ = cost;
  }

 private:
  static constexpr Duration kCheap = std::chrono::milliseconds{20};
  static constexpr int kOneIn = 10;

  mutable std::mutex mutex_;
  SteadyTime begun_;
  Duration cost_{};  // of the last time
};

}  // namespace faultline
