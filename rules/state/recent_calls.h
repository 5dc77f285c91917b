// The last collectives of a rank, with their lines. They give a rank's position if counting from
// the start does not, because its log began late or lost lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace faultline {

struct RecentCall {
  static constexpr std::uint32_t kUndated = UINT32_MAX;

  std::uint64_t op_count = 0;
  std::uint64_t line = 0;
  std::uint64_t offset = 0;
  std::uint32_t symbol = 0;        // Progress::signature(symbol)
  std::uint32_t at_ms = kUndated;  // since Member::dated_from_s
};

class RecentCalls {
 public:
  // A hang shows in the last few calls; the rest serves to find the same stretch in the log of
  // another rank even if lines are missing.
  static constexpr std::size_t kMost = 64;

  void push_back(const RecentCall& call) {
    if (calls_.size() < kMost) {
      calls_.push_back(call);
      return;
    }
    calls_[oldest_] = call;
    oldest_ = (oldest_ + 1) % kMost;
  }

  std::size_t size() const { return calls_.size(); }
  bool empty() const { return calls_.empty(); }

  // By age, the oldest first.
  const RecentCall& operator[](std::size_t index) const {
    std::size_t at = oldest_ + index;
    return calls_[at < calls_.size() ? at : at - calls_.size()];
  }
  const RecentCall& back() const { return (*this)[calls_.size() - 1]; }

 private:
  std::vector<RecentCall> calls_;
  std::size_t oldest_ = 0;
};

}  // namespace faultline
