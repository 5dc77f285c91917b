#include "rules/state/folded_sequence.h"

#include <algorithm>
#include <cassert>

namespace faultline {
namespace {

// A repeat counts once it has lasted a whole period and at least this long. Loops are nested:
// folding the layers of an iteration too early would hide that iterations repeat.
constexpr std::size_t kLeastRepeat = 1024;
constexpr std::size_t kContext = 8;
// Without a limit, a sequence without repeats would remember every context.
constexpr std::size_t kMostContexts = std::size_t{1} << 16;

std::uint64_t context_at(const std::vector<std::uint32_t>& symbols, std::size_t end) {
  std::uint64_t hash = 0;
  for (std::size_t i = end - kContext; i < end; ++i)
    hash = (hash ^ symbols[i]) * 0x9e3779b97f4a7c15U + (hash >> 29);
  return hash;
}

}  // namespace

void FoldedSequence::push_back(std::uint32_t symbol) {
  if (!stretches_.empty()) {
    Stretch& last = stretches_.back();
    bool repeating = last.period < last.length;
    if (repeating) {
      if (symbols_[last.first + last.length % last.period] == symbol) {
        ++last.length;
        ++size_;
        return;
      }
      stretches_.push_back({size_, 0, symbols_.size(), 0});
      contexts_.clear();
      candidate_ = agreed_ = 0;
    }
  } else {
    stretches_.push_back({0, 0, 0, 0});
  }
  push_literal(symbol);
  try_fold();
}

void FoldedSequence::push_literal(std::uint32_t symbol) {
  symbols_.push_back(symbol);
  Stretch& last = stretches_.back();
  ++last.length;
  ++last.period;
  ++size_;
}

void FoldedSequence::try_fold() {
  Stretch& last = stretches_.back();
  const std::size_t end = symbols_.size();
  if (candidate_ != 0 && symbols_[end - 1] == symbols_[end - 1 - candidate_]) {
    ++agreed_;
  } else {
    candidate_ = agreed_ = 0;
    if (last.length < kContext) return;
    auto known = contexts_.find(context_at(symbols_, end));
    if (known != contexts_.end()) {
      candidate_ = end - known->second;
      std::size_t most =
          std::min(end - last.first - candidate_, std::max(candidate_, kLeastRepeat));
      while (agreed_ < most &&
             symbols_[end - 1 - agreed_] == symbols_[end - 1 - agreed_ - candidate_])
        ++agreed_;
    }
  }
  if (last.length >= kContext) {
    if (contexts_.size() >= kMostContexts) contexts_.clear();
    contexts_[context_at(symbols_, end)] = end;
  }
  if (candidate_ == 0 || agreed_ < std::max(candidate_, kLeastRepeat)) return;

  // The last candidate_ + agreed_ symbols repeat: keep one period of them.
  const std::size_t repeated = candidate_ + agreed_;
  const std::uint64_t start = size_ - repeated;
  const std::size_t first = end - repeated;
  last.length -= repeated;
  last.period = static_cast<std::size_t>(last.length);
  if (last.length == 0) stretches_.pop_back();
  symbols_.resize(first + candidate_);
  stretches_.push_back({start, repeated, first, candidate_});
  contexts_.clear();
  candidate_ = agreed_ = 0;
}

std::uint32_t FoldedSequence::at(std::uint64_t index) const {
  std::size_t nowhere = stretches_.size();
  return at(index, nowhere);
}

std::uint32_t FoldedSequence::at(std::uint64_t index, std::size_t& near) const {
  assert(index < size_);
  auto holds = [&](std::size_t which) {
    return which < stretches_.size() && index >= stretches_[which].start &&
           index - stretches_[which].start < stretches_[which].length;
  };
  if (!holds(near)) {
    if (holds(near + 1)) {
      ++near;
    } else {
      auto after = std::upper_bound(stretches_.begin(), stretches_.end(), index,
                                    [](std::uint64_t i, const Stretch& s) { return i < s.start; });
      near = static_cast<std::size_t>(after - stretches_.begin()) - 1;
    }
  }
  const Stretch& stretch = stretches_[near];
  return symbols_[stretch.first + (index - stretch.start) % stretch.period];
}

}  // namespace faultline
