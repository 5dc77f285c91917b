// CommitTracker: how many of a connection's commits are still on their way to the disk, and whether
// one failed. Shared with the store's thread, which may finish after the connection is gone.
#pragma once

#include <condition_variable>
#include <cstddef>
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
    ended_.notify_all();
    wake_();
  }

  // Waits until fewer are on their way. One piece of a body that inflates may make many.
  void wait_for_fewer_than(std::size_t most) {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return in_flight_ < most; });
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
  std::condition_variable ended_;
  std::size_t in_flight_ = 0;
  std::exception_ptr failure_;
};

}  // namespace faultline
