// Pace: limits work that is asked for often and may cost much. Cheap work is done whenever it is
// asked for; costly work takes at most a tenth of the time.
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
