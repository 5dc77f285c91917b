#include "rules/state/history.h"

#include <algorithm>

namespace faultline {

bool History::advance(Place& place, std::uint32_t symbol) {
  Branch& branch = branches_[place.branch];
  std::uint64_t index = place.position - branch.fork;
  if (index == branch.calls.size()) {
    branch.calls.push_back(symbol);
  } else if (branch.calls.at(index, branch.near) != symbol) {
    auto fresh = static_cast<std::uint32_t>(branches_.size());
    auto [child, is_new] = branch.children.try_emplace({place.position, symbol}, fresh);
    if (is_new) {
      Branch grown{
          .parent = place.branch, .fork = place.position, .calls = {}, .near = 0, .children = {}};
      grown.calls.push_back(symbol);
      place.branch = fresh;
      branches_.push_back(std::move(grown));  // invalidates `branch` and `child`
    } else {
      place.branch = child->second;
    }
    ++place.position;
    return true;
  }
  ++place.position;
  return false;
}

std::uint32_t History::call_at(const Place& place, std::uint64_t position) const {
  std::uint32_t at = place.branch;
  while (position < branches_[at].fork) at = branches_[at].parent;
  return branches_[at].calls.at(position - branches_[at].fork);
}

std::uint64_t History::common(const Place& a, const Place& b) const {
  // Climb from the later branch until both are the same; the last climb left at the place where
  // they part.
  std::uint32_t left = a.branch;
  std::uint32_t right = b.branch;
  std::uint64_t until = std::min(a.position, b.position);
  while (left != right) {
    // A child is always made after its parent.
    std::uint32_t& later = left > right ? left : right;
    until = std::min(until, branches_[later].fork);
    later = branches_[later].parent;
  }
  return until;
}

std::size_t History::held() const {
  std::size_t sum = 0;
  for (const Branch& branch : branches_) sum += branch.calls.held();
  return sum;
}

}  // namespace faultline
