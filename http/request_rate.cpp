#include "http/request_rate.h"

#include <utility>

namespace faultline {

void RequestRate::begin(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  is_begun_ = true;
  bytes_ = bytes;
  waited_ = {};
}

void RequestRate::end() {
  const std::lock_guard lock(mutex_);
  is_begun_ = false;
}

void RequestRate::received(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  bytes_ += bytes;
}

void RequestRate::wait_begins(SteadyTime now) {
  const std::lock_guard lock(mutex_);
  waiting_since_ = now;
}

void RequestRate::wait_ends(SteadyTime now) {
  const std::lock_guard lock(mutex_);
  if (const auto since = std::exchange(waiting_since_, std::nullopt)) waited_ += now - *since;
}

std::optional<double> RequestRate::bytes_per_second(SteadyTime now) const {
  const std::lock_guard lock(mutex_);
  if (!is_begun_ || !waiting_since_) return std::nullopt;
  const SteadyTime::duration waited = waited_ + (now - *waiting_since_);
  if (waited < kLeastWait) return std::nullopt;
  return static_cast<double>(bytes_) / std::chrono::duration<double>(waited).count();
}

}  // namespace faultline
