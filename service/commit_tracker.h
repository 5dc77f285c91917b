// CommitTracker: how many of a connection's commits are still on their way to the disk, and whether
// one failed. Shared with the store's thread, which may finish after the connection is gone.
#pragma once

#include <exception>
#include <functional>
#include <mutex>

namespace faultline {

class CommitTracker {
 public:
  // `wake` is called from the store's thread after each commit.
  explicit CommitTracker(std::function<void()> wake) : wake_(std::move(wake)) {}

  void begin() {
    const std::lock_guard lock(mutex_);
    ++in_flight_;
  }

  void end(std::exception_ptr failure) {
    {
      const std::lock_guard lock(mutex_);
      --in_flight_;
      if (failure && !failure_) failure_ = failure;
    }
    wake_();
  }

  std::size_t in_flight() const {
    const std::lock_guard lock(mutex_);
    return in_flight_;
  }

  std::exception_ptr failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

 private:
  std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::size_t in_flight_ = 0;
  std::exception_ptr failure_;
};

}  // namespace faultline
