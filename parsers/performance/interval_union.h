// The union of intervals that come in any order and overlap: what a GPU did, whichever of its
// streams did it. Memory follows the pieces of the union, not the intervals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/saved_bytes.h"

namespace faultline {

struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool operator==(const Interval&) const = default;
};

// Ascending, apart from each other.
using Intervals = std::vector<Interval>;

// Each as how far it lies from the one before, which is short.
void save(const Intervals& intervals, SavedBytesWriter& saved);
Intervals restored_intervals(SavedBytesReader& saved);

class IntervalUnion {
 public:
  void add(std::int64_t begin, std::int64_t end);

  // No more pieces than this are kept, give or take a quarter: where there are more, the narrowest
  // gaps between them are closed. What was added by that is told.
  void set_most(std::size_t pieces) { most_ = pieces; }
  std::int64_t closed_gaps() const { return closed_gaps_; }

  const Intervals& pieces();
  bool empty() const { return pieces_.empty() && waiting_.empty(); }

  void save(SavedBytesWriter& saved) const;
  void restore(SavedBytesReader& saved);

 private:
  void settle();
  void close_narrow_gaps();

  std::size_t most_ = std::size_t{1} << 20;
  Intervals pieces_;
  Intervals waiting_;  // to be merged into them
  std::int64_t closed_gaps_ = 0;
};

std::int64_t length_of(const Intervals& pieces);
std::int64_t length_within(const Intervals& pieces, Interval window);
std::int64_t overlap_of(const Intervals& a, const Intervals& b);
Intervals united(const Intervals& a, const Intervals& b);

}  // namespace faultline
