// ChangeSignal: wakes everyone who waits for the next change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace faultline {

class ChangeSignal {
 public:
  using Waker = std::function<void()>;

  // `waker` is called at every change, from any thread, as long as the returned value lives.
  std::shared_ptr<const Waker> subscribe(Waker waker) {
    auto subscription = std::make_shared<const Waker>(std::move(waker));
    const std::lock_guard lock(mutex_);
    std::erase_if(wakers_, [](const auto& known) { return known.expired(); });
    wakers_.push_back(subscription);
    return subscription;
  }

  std::size_t count() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(
        std::ranges::count_if(wakers_, [](const auto& known) { return !known.expired(); }));
  }

  void signal() {
    const std::lock_guard lock(mutex_);
    for (const auto& known : wakers_)
      if (const auto waker = known.lock()) (*waker)();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<const Waker>> wakers_;
};

}  // namespace faultline
