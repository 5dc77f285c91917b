#include "rules/picture/calls/common_sequence.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace faultline {
namespace {

// Scores: of a call that both logs show, of a line that one log lacks, and of a call after the last
// one of the other log. A short log is likelier than one with a hole, so ending earlier costs
// least; it costs something because ranks that repeat one call are taken to be in step.
constexpr int kMatch = 20;
constexpr int kMissing = -6;
constexpr int kEndsEarlier = -1;

// Ranks that share a sequence add little to it: only the calls that all earlier ones lack. A rank
// that would make it longer than this shares none.
std::size_t most_calls(std::size_t of_first) { return 1024 + 2 * of_first; }

}  // namespace

CommonSequence::CommonSequence(CallSequence first)
    : calls_(std::move(first)), most_(most_calls(calls_.size())), ends_{calls_.size()} {}

double CommonSequence::loss() const {
  return spanned_ > seen_ ? 1 - static_cast<double>(seen_) / static_cast<double>(spanned_) : 0;
}

void CommonSequence::add(const CallSequence& rank) {
  if (auto known = known_.find(rank); known != known_.end()) {
    ends_.push_back(ends_[known->second]);
    if (!ends_.back()) return;
    spanned_ += rank.size();
    seen_ += rank.size();
    return;
  }
  if (!lay_along(rank)) ends_.push_back(std::nullopt);
  known_.emplace(rank, ends_.size() - 1);
}

// Aligns `rank` with calls_. score(i, j) is the best one for rank[0, i) and calls_[0, j); calls
// that one log has before the other begins cost nothing.
bool CommonSequence::lay_along(const CallSequence& rank) {
  const std::size_t rows = rank.size() + 1;
  const std::size_t columns = calls_.size() + 1;
  std::vector<int> score(rows * columns, 0);
  auto at = [&](std::size_t i, std::size_t j) -> int& { return score[i * columns + j]; };
  for (std::size_t i = 1; i < rows; ++i)
    for (std::size_t j = 1; j < columns; ++j) {
      int best = std::max(at(i - 1, j), at(i, j - 1)) + kMissing;
      if (rank[i - 1] == calls_[j - 1]) best = std::max(best, at(i - 1, j - 1) + kMatch);
      at(i, j) = best;
    }
  // Either log may end earlier than the other.
  std::size_t i = rank.size();
  std::size_t j = calls_.size();
  int best = std::numeric_limits<int>::min();
  std::size_t end_i = i;
  std::size_t end_j = j;
  for (std::size_t early = 0; early <= calls_.size(); ++early) {
    int value = at(rank.size(), calls_.size() - early) + kEndsEarlier * static_cast<int>(early);
    if (value > best) best = value, end_i = rank.size(), end_j = calls_.size() - early;
  }
  for (std::size_t early = 1; early <= rank.size(); ++early) {
    int value = at(rank.size() - early, calls_.size()) + kEndsEarlier * static_cast<int>(early);
    if (value > best) best = value, end_i = rank.size() - early, end_j = calls_.size();
  }

  CallSequence merged;                                   // from the end to the beginning
  std::vector<std::size_t> moved(calls_.size() + 1, 0);  // calls inserted before each place
  for (std::size_t more = rank.size(); more > end_i; --more) merged.push_back(rank[more - 1]);
  for (std::size_t more = calls_.size(); more > end_j; --more) merged.push_back(calls_[more - 1]);
  std::size_t end = rank.size() > end_i ? 0 : calls_.size() - end_j;  // from the merged end
  i = end_i;
  j = end_j;
  std::size_t first_shared = 0;
  while (i > 0 && j > 0) {
    if (rank[i - 1] == calls_[j - 1] && at(i, j) == at(i - 1, j - 1) + kMatch) {
      merged.push_back(calls_[j - 1]);
      --i, --j;
      first_shared = merged.size();
    } else if (at(i, j) == at(i - 1, j) + kMissing) {
      merged.push_back(rank[--i]);
      ++moved[j];
    } else {
      merged.push_back(calls_[--j]);
    }
  }
  while (j > 0) merged.push_back(calls_[--j]);
  // Calls of this rank before the first call of all others are of no use.
  std::ranges::reverse(merged);

  if (merged.size() > std::max(most_, calls_.size())) return false;
  if (merged.size() > calls_.size()) {
    std::size_t inserted = 0;
    for (std::size_t& here : moved) inserted = (here += inserted);
    for (auto& old_end : ends_)
      if (old_end.value_or(0) > 0) *old_end += moved[*old_end - 1];
  }
  calls_ = std::move(merged);
  ends_.push_back(calls_.size() - end);
  spanned_ += first_shared > end ? first_shared - end : 0;
  seen_ += rank.size() - i;
  return true;
}

}  // namespace faultline
