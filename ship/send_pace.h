// How long the newest bytes of a log wait for more, so that a log does not come in a thousand
// pieces: the server keeps a fingerprint of each piece as long as the job lives.
#pragma once

#include <algorithm>
#include <chrono>

namespace faultline {

class SendPace {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kLeast{1000};
  static constexpr std::chrono::milliseconds kMost{3000};

  // quiet: seconds since the log last changed. It may be truncated next, so nothing waits longer.
  bool has_waited(Clock::time_point now, double quiet = 0) const {
    const auto waited = now - taken_at_;
    return waited >= wait_ || (waited >= kLeast && quiet >= 1);
  }

  // Bytes are taken now. A log that goes on growing waits longer each time; after a silence, its
  // first lines are sent soon: they tell what ended it.
  void take(Clock::time_point now) {
    const bool goes_on = now - taken_at_ < 2 * wait_;
    wait_ = goes_on ? std::min(2 * wait_, kMost) : kLeast;
    taken_at_ = now;
  }

 private:
  Clock::time_point taken_at_;
  std::chrono::milliseconds wait_ = kLeast;
};

}  // namespace faultline
