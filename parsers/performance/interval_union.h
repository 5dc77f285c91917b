// The union of intervals that come in any order and may overlap: the work of all streams of a GPU.
// Memory grows with the pieces of the union, not with the intervals.
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

// Ascending; no two touch.
using Intervals = std::vector<Interval>;

// Saves distances between intervals, because they are short.
void save(const Intervals& intervals, SavedBytesWriter& saved);
Intervals restored_intervals(SavedBytesReader& saved);

class IntervalUnion {
 public:
  void add(std::int64_t begin, std::int64_t end);

  // Keeps about so many pieces at most (up to a quarter more). If there are more, the narrowest
  // gaps are closed; closed_gaps() is the time that this added.
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
  Intervals waiting_;  // to be merged into pieces_
  std::int64_t closed_gaps_ = 0;
};

std::int64_t length_of(const Intervals& pieces);
std::int64_t length_within(const Intervals& pieces, Interval window);
std::int64_t overlap_of(const Intervals& a, const Intervals& b);
Intervals united(const Intervals& a, const Intervals& b);

}  // namespace faultline
