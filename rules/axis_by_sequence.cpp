#include <algorithm>
#include <limits>
#include <map>

#include "rules/axis.h"

namespace faultline {
namespace {

// A call that both show, a line that one of them lacks, and a call after the other's last one. A
// shorter log is likelier than one with a hole, so ending earlier costs least, but not nothing:
// where calls repeat, ranks are taken to be in step.
constexpr int kMatch = 20;
constexpr int kMissing = -6;
constexpr int kEndsEarlier = -1;

using Symbols = std::vector<std::uint32_t>;

Symbols symbols_of(const RecentCalls& recent) {
  Symbols symbols;
  for (std::size_t i = 0; i < recent.size(); ++i) symbols.push_back(recent[i].symbol);
  return symbols;
}

// What the ranks called, as it comes out when each is laid along those before it.
class Common {
 public:
  explicit Common(Symbols first) : symbols_(std::move(first)), ends_{symbols_.size()} {}

  void add(const Symbols& rank) {
    if (auto known = known_.find(rank); known != known_.end()) {
      ends_.push_back(ends_[known->second]);
      spanned_ += rank.size();
      seen_ += rank.size();
      return;
    }
    lay_along(rank);
    known_.emplace(rank, ends_.size() - 1);
  }

  const Symbols& symbols() const { return symbols_; }
  const std::vector<std::size_t>& ends() const { return ends_; }  // by rank, in the order of adding
  double loss() const {
    return spanned_ > seen_ ? 1 - static_cast<double>(seen_) / static_cast<double>(spanned_) : 0;
  }

 private:
  // Best score of laying rank[0, i) along symbols_[0, j), where the first calls of either may be
  // missing in the other for nothing.
  void lay_along(const Symbols& rank) {
    const std::size_t rows = rank.size() + 1;
    const std::size_t columns = symbols_.size() + 1;
    std::vector<int> score(rows * columns, 0);
    auto at = [&](std::size_t i, std::size_t j) -> int& { return score[i * columns + j]; };
    for (std::size_t i = 1; i < rows; ++i)
      for (std::size_t j = 1; j < columns; ++j) {
        int best = std::max(at(i - 1, j), at(i, j - 1)) + kMissing;
        if (rank[i - 1] == symbols_[j - 1]) best = std::max(best, at(i - 1, j - 1) + kMatch);
        at(i, j) = best;
      }
    // Either may end earlier than the other.
    std::size_t i = rank.size();
    std::size_t j = symbols_.size();
    int best = std::numeric_limits<int>::min();
    std::size_t end_i = i;
    std::size_t end_j = j;
    for (std::size_t early = 0; early <= symbols_.size(); ++early) {
      int value = at(rank.size(), symbols_.size() - early) + kEndsEarlier * static_cast<int>(early);
      if (value > best) best = value, end_i = rank.size(), end_j = symbols_.size() - early;
    }
    for (std::size_t early = 1; early <= rank.size(); ++early) {
      int value = at(rank.size() - early, symbols_.size()) + kEndsEarlier * static_cast<int>(early);
      if (value > best) best = value, end_i = rank.size() - early, end_j = symbols_.size();
    }

    Symbols merged;                                          // from the end to the beginning
    std::vector<std::size_t> moved(symbols_.size() + 1, 0);  // calls put in before each place
    for (std::size_t more = rank.size(); more > end_i; --more) merged.push_back(rank[more - 1]);
    for (std::size_t more = symbols_.size(); more > end_j; --more)
      merged.push_back(symbols_[more - 1]);
    std::size_t end = rank.size() > end_i ? 0 : symbols_.size() - end_j;  // from the merged end
    i = end_i;
    j = end_j;
    std::size_t first_shared = 0;
    while (i > 0 && j > 0) {
      if (rank[i - 1] == symbols_[j - 1] && at(i, j) == at(i - 1, j - 1) + kMatch) {
        merged.push_back(symbols_[j - 1]);
        --i, --j;
        first_shared = merged.size();
      } else if (at(i, j) == at(i - 1, j) + kMissing) {
        merged.push_back(rank[--i]);
        ++moved[j];
      } else {
        merged.push_back(symbols_[--j]);
      }
    }
    while (j > 0) merged.push_back(symbols_[--j]);
    // What the rank called before all others' first call is of no use.
    std::ranges::reverse(merged);

    for (std::size_t& old_end : ends_) {
      std::size_t inserted = 0;
      for (std::size_t place = 0; place < old_end; ++place) inserted += moved[place];
      old_end += inserted;
    }
    symbols_ = std::move(merged);
    ends_.push_back(symbols_.size() - end);
    spanned_ += first_shared > end ? first_shared - end : 0;
    seen_ += rank.size() - i;
  }

  Symbols symbols_;
  std::vector<std::size_t> ends_;
  std::map<Symbols, std::size_t> known_;
  std::uint64_t spanned_ = 0;
  std::uint64_t seen_ = 0;
};

}  // namespace

Axis axis_by_sequence(const std::vector<Tail>& tails) {
  Axis axis;
  axis.positions.resize(tails.size());
  // The longest first: the more it shows, the better others can be laid along it.
  std::vector<std::size_t> order;
  for (std::size_t which = 0; which < tails.size(); ++which)
    if (!tails[which].recent->empty()) order.push_back(which);
  if (order.empty()) return axis;
  std::ranges::stable_sort(order, std::greater{},
                           [&](std::size_t which) { return tails[which].recent->size(); });
  Common common(symbols_of(*tails[order.front()].recent));
  for (std::size_t i = 1; i < order.size(); ++i) common.add(symbols_of(*tails[order[i]].recent));
  for (std::size_t i = 0; i < order.size(); ++i) axis.positions[order[i]] = common.ends()[i];
  axis.calls = common.symbols();
  axis.furthest = axis.calls.size();
  axis.loss = common.loss();
  return axis;
}

}  // namespace faultline
