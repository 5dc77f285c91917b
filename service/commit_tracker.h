// CommitTracker: counts the commits of a connection that are still on their way to the disk, and
// remembers whether one failed. Shared with the store's thread, which may finish after the
// connection is gone.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>

namespace faultline {

class CommitTracker {
 public:
  // `wake` is called from the store's thread after each commit.
  explicit CommitTracker(std::function<void()> wake) : wake_(std::move(wake)) {}

  // `weight`: of the commit's events.
  void begin(std::uint64_t weight) {
    const std::lock_guard lock(mutex_);
    ++in_flight_;
    weight_ += weight;
  }

  void end(std::uint64_t weight, std::exception_ptr failure) {
    {
      const std::lock_guard lock(mutex_);
      --in_flight_;
      weight_ -= weight;
      if (failure && !failure_) failure_ = failure;
    }
    ended_.notify_all();
    wake_();
  }

  // Waits until fewer commits are on their way: one thread writes for all connections, and one
  // compressed piece of a body may unpack into many commits.
  void wait_for_room() {
    constexpr std::size_t kMostCommits = 16;
    constexpr std::uint64_t kMostWeight = 16'384;
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return in_flight_ < kMostCommits && weight_ < kMostWeight; });
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
  std::uint64_t weight_ = 0;
  std::exception_ptr failure_;
};

}  // namespace faultline
