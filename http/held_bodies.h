// HeldBodies: how much memory all connections together spend on what means nothing in part, such as
// a dump that waits for its rest. A sender needs few bytes, packed, to make the server hold many.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <set>
#include <utility>

#include "service/clock.h"

namespace faultline {

class HeldBodies {
 public:
  // A body may hold this much, whatever others hold. Only what is beyond that counts.
  static constexpr std::size_t kFree = std::size_t{256} << 10;
  // While all hold more than this, only the body that holds most goes on, so that one is completed.
  static constexpr std::size_t kMany = std::size_t{256} << 20;
  // A piece that unpacks to very much cannot wait: above this it ends.
  static constexpr std::size_t kMost = 2 * kMany;
  // While others wait, a body that holds more than kFree ends if it did not grow by kStep for so
  // long.
  static constexpr std::chrono::seconds kPatience{30};
  static constexpr std::size_t kStep = std::size_t{1} << 20;

  // What one body holds.
  class Share {
   public:
    // `wake` is called, from another thread, when the body has to end.
    Share(HeldBodies& all, std::function<void()> wake);
    ~Share();
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    void hold(std::size_t bytes, SteadyTime now);
    // Whether the body may be read on. If not, one that does not come on has to end.
    bool may_grow(SteadyTime now);
    bool has_to_end() const { return has_to_end_; }

   private:
    friend class HeldBodies;

    HeldBodies& all_;
    const std::function<void()> wake_;
    std::size_t bytes_ = 0;  // beyond kFree
    // When it last had grown by a step, and what it held then. Valid while bytes_ > 0.
    SteadyTime grew_;
    std::size_t bytes_then_ = 0;
    std::atomic<bool> has_to_end_{false};
  };

  std::size_t bytes() const;  // beyond kFree, of all

 private:
  void end_one_that_stands(SteadyTime now);

  mutable std::mutex mutex_;  // guards the shares, too
  std::size_t bytes_ = 0;
  std::set<Share*> shares_;
};

}  // namespace faultline
