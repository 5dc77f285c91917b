#include "parsers/performance/interval_union.h"

#include <algorithm>

namespace faultline {
namespace {

constexpr std::size_t kLeastWaiting = 1024;

void append(Intervals& pieces, Interval next) {
  if (!pieces.empty() && next.begin <= pieces.back().end)
    pieces.back().end = std::max(pieces.back().end, next.end);
  else
    pieces.push_back(next);
}

bool begins_before(const Interval& a, const Interval& b) { return a.begin < b.begin; }

// Unsigned, because a trace may have two times whose difference overflows.
std::int64_t distance(std::int64_t from, std::int64_t to) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(to) -
                                   static_cast<std::uint64_t>(from));
}

std::int64_t moved(std::int64_t from, std::int64_t by) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(from) +
                                   static_cast<std::uint64_t>(by));
}

}  // namespace

void save(const Intervals& intervals, SavedBytesWriter& saved) {
  saved.number(static_cast<std::int64_t>(intervals.size()));
  std::int64_t last = 0;
  for (const Interval& interval : intervals) {
    saved.number(distance(last, interval.begin));
    saved.number(distance(interval.begin, interval.end));
    last = interval.end;
  }
}

Intervals restored_intervals(SavedBytesReader& saved) {
  Intervals intervals;
  std::int64_t last = 0;
  for (std::int64_t left = saved.number(); left > 0 && saved.ok(); --left) {
    Interval& interval = intervals.emplace_back();
    interval.begin = moved(last, saved.number());
    interval.end = moved(interval.begin, saved.number());
    last = interval.end;
  }
  return intervals;
}

void IntervalUnion::save(SavedBytesWriter& saved) const {
  saved.number(static_cast<std::int64_t>(most_));
  saved.number(closed_gaps_);
  faultline::save(pieces_, saved);
  faultline::save(waiting_, saved);
}

void IntervalUnion::restore(SavedBytesReader& saved) {
  most_ = static_cast<std::size_t>(saved.number());
  closed_gaps_ = saved.number();
  pieces_ = restored_intervals(saved);
  waiting_ = restored_intervals(saved);
}

void IntervalUnion::add(std::int64_t begin, std::int64_t end) {
  if (end <= begin) return;
  // Most intervals come in the order of time, or nearly so.
  if (!waiting_.empty() && begin >= waiting_.back().begin && begin <= waiting_.back().end) {
    waiting_.back().end = std::max(waiting_.back().end, end);
    return;
  }
  waiting_.push_back({begin, end});
  if (waiting_.size() >= std::max(kLeastWaiting, pieces_.size() / 4)) settle();
}

const Intervals& IntervalUnion::pieces() {
  settle();
  return pieces_;
}

void IntervalUnion::settle() {
  if (waiting_.empty()) return;
  std::sort(waiting_.begin(), waiting_.end(), begins_before);
  // Pieces before the first waiting interval stay as they are.
  const auto touched =
      std::lower_bound(pieces_.begin(), pieces_.end(), waiting_.front().begin,
                       [](const Interval& piece, std::int64_t begin) { return piece.end < begin; });
  const Intervals rest(touched, pieces_.end());
  pieces_.erase(touched, pieces_.end());
  auto a = rest.begin();
  auto b = waiting_.begin();
  while (a != rest.end() || b != waiting_.end()) {
    const bool first = b == waiting_.end() || (a != rest.end() && a->begin <= b->begin);
    append(pieces_, first ? *a++ : *b++);
  }
  waiting_.clear();
  if (pieces_.size() > most_) close_narrow_gaps();
}

void IntervalUnion::close_narrow_gaps() {
  std::vector<std::int64_t> gaps;
  gaps.reserve(pieces_.size());
  for (std::size_t i = 1; i < pieces_.size(); ++i)
    gaps.push_back(pieces_[i].begin - pieces_[i - 1].end);
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  const std::int64_t narrow = *middle;
  Intervals wider;
  wider.push_back(pieces_.front());
  for (std::size_t i = 1; i < pieces_.size(); ++i) {
    const std::int64_t gap = pieces_[i].begin - wider.back().end;
    if (gap > narrow) {
      wider.push_back(pieces_[i]);
      continue;
    }
    closed_gaps_ += gap;
    wider.back().end = pieces_[i].end;
  }
  pieces_ = std::move(wider);
}

std::int64_t length_of(const Intervals& pieces) {
  std::int64_t length = 0;
  for (const Interval& piece : pieces) length += piece.end - piece.begin;
  return length;
}

std::int64_t length_within(const Intervals& pieces, Interval window) {
  std::int64_t length = 0;
  auto piece =
      std::lower_bound(pieces.begin(), pieces.end(), window.begin,
                       [](const Interval& each, std::int64_t begin) { return each.end <= begin; });
  for (; piece != pieces.end() && piece->begin < window.end; ++piece)
    length += std::min(piece->end, window.end) - std::max(piece->begin, window.begin);
  return length;
}

std::int64_t overlap_of(const Intervals& a, const Intervals& b) {
  std::int64_t length = 0;
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() && y != b.end()) {
    const std::int64_t begin = std::max(x->begin, y->begin);
    const std::int64_t end = std::min(x->end, y->end);
    if (end > begin) length += end - begin;
    if (x->end < y->end)
      ++x;
    else
      ++y;
  }
  return length;
}

Intervals united(const Intervals& a, const Intervals& b) {
  Intervals all;
  all.reserve(a.size() + b.size());
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() || y != b.end()) {
    const bool first = y == b.end() || (x != a.end() && x->begin <= y->begin);
    append(all, first ? *x++ : *y++);
  }
  return all;
}

}  // namespace faultline
