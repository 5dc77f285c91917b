// MemoryBudget: how much memory the process may take with all jobs together, and whether it takes
// more.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

#include "service/clock.h"
#include "store/error.h"

namespace faultline {

// A job cannot be read now, because all jobs together take too much memory. Whoever reads a job
// expects that the store fails, and so expects this, too.
struct LacksMemory : StoreError {
  explicit LacksMemory(std::chrono::seconds try_after);

  std::chrono::seconds retry_after;
};

class MemoryBudget {
 public:
  using Measure = std::function<std::uint64_t()>;

  // `most`: 0 for no limit. `used`: how much memory the process takes now.
  MemoryBudget(std::uint64_t most, Measure used);

  void set_most(std::uint64_t most) { most_ = most; }
  std::uint64_t most() const { return most_; }

  bool is_exceeded() const { return is_above(1, 1); }
  // One more large job may exceed it.
  bool is_tight() const { return is_above(1, 2); }
  // A job that is read may go a little over the budget, so that one which has grown up to it can
  // still be read.
  bool is_far_exceeded() const { return is_above(9, 8); }
  // How much is to be freed, so that it does not lack again at once.
  std::uint64_t excess() const;

  // Whether the memory of a job does not matter; `bytes` is an estimate.
  bool is_small(std::uint64_t bytes) const;

  // That a job rests or waits for memory: the log tells of it once, until it is over.
  void note_lack();
  // Call it now and then.
  void look_for_end();

 private:
  bool is_above(std::uint64_t times, std::uint64_t of) const;

  std::atomic<std::uint64_t> most_;
  const Measure used_;
  std::atomic<bool> lacks_ = false;
  std::atomic<SteadyTime> lacked_at_ = SteadyTime{};
};

}  // namespace faultline
