#include "rules/picture/calls/progress_table.h"

#include <algorithm>
#include <utility>

namespace faultline {
namespace {

using Rows = std::vector<const ProgressRow*>;

bool tells_missing(const ProgressRow& row) {
  return row.odd.empty() && (row.unnamed > 0 || !row.with(HowFar::not_entered).empty());
}

// Of the numbered operations of a group, the first that some rank has not entered. Of lists, only
// the complete ones, if there are any.
Rows telling(const ProgressTable& table) {
  std::map<std::string, std::uint64_t> first;
  bool any_whole = false;
  for (const ProgressRow& row : table.rows) {
    if (!tells_missing(row)) continue;
    any_whole |= !row.is_part;
    const std::uint64_t sequence = row.sequence.value_or(0);
    const auto [known, is_new] = first.try_emplace(row.group, sequence);
    known->second = std::min(known->second, sequence);
  }
  Rows rows;
  for (const ProgressRow& row : table.rows) {
    const auto known = first.find(row.group);
    if (tells_missing(row) && row.sequence.value_or(0) == known->second &&
        !(any_whole && row.is_part))
      rows.push_back(&row);
  }
  return rows;
}

// Most members have not entered it, and wait nowhere else: then the few that entered it made a call
// that the others do not make.
bool is_ahead(const ProgressRow& row, const std::set<int>& waiting) {
  if (row.ahead.words.empty()) return false;
  const std::set<int> missing = row.with(HowFar::not_entered);
  const std::set<int> inside = row.inside();
  return !inside.empty() && missing.size() + row.unnamed > inside.size() &&
         std::ranges::none_of(missing, [&](int member) { return waiting.contains(member); });
}

// Rows that name the same ranks are one stall. A set of late ranks absorbs its subsets, unless
// there are too many sets to compare each with each.
class Stalls {
 public:
  void add(Stall::Kind kind, std::set<int> who, const ProgressRow& row, bool circular) {
    if (!who.empty()) {
      if (const auto same = by_who_.find({kind, who}); same != by_who_.end()) {
        all_[same->second].rows.push_back(&row);
        return;
      }
      if (all_.size() <= kMostCompared && absorbs(kind, who)) return;
      by_who_[{kind, who}] = all_.size();
    }
    all_.push_back({kind, std::move(who), {&row}, circular});
  }

  std::vector<Stall> take() { return std::move(all_); }

 private:
  static constexpr std::size_t kMostCompared = 256;

  // Whether a stall of more ranks is there. If not, removes those of fewer ranks.
  bool absorbs(Stall::Kind kind, const std::set<int>& who) {
    const auto is_like = [&](const Stall& known) {
      return !known.who.empty() && known.kind == kind;
    };
    if (std::ranges::any_of(all_, [&](const Stall& known) {
          return is_like(known) && std::ranges::includes(known.who, who);
        }))
      return true;
    const std::size_t removed = std::erase_if(all_, [&](const Stall& known) {
      return is_like(known) && std::ranges::includes(who, known.who);
    });
    if (removed == 0) return false;
    by_who_.clear();
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (!all_[i].who.empty()) by_who_[{all_[i].kind, all_[i].who}] = i;
    return false;
  }

  std::vector<Stall> all_;
  std::map<std::pair<Stall::Kind, std::set<int>>, std::size_t> by_who_;  // index into all_
};

}  // namespace

std::set<int> ProgressRow::with(HowFar how_far) const {
  std::set<int> all;
  for (const auto& [member, came] : members)
    if (came.how_far == how_far) all.insert(all.end(), member);
  return all;
}

std::set<int> ProgressRow::inside() const {
  std::set<int> all = with(HowFar::entered);
  all.merge(with(HowFar::started));
  return all;
}

const Telling& Stall::telling() const {
  const ProgressRow& row = *rows.front();
  switch (kind) {
    case Kind::ahead:
      return row.ahead;
    case Kind::all_entered:
      return row.all_entered;
    case Kind::differs:
      return row.differs;
    case Kind::behind:
      break;
  }
  return row.behind;
}

WaitsOf<int> waits_of(const ProgressTable& table) {
  WaitsOf<int> waits;
  for (const ProgressRow& row : table.rows) waits.waiting.merge(row.inside());
  for (const ProgressRow* row : telling(table))
    waits.waited_for.merge(row->with(HowFar::not_entered));
  return waits;
}

std::vector<Stall> stalls_of(const ProgressTable& table) {
  Stalls stalls;
  for (const ProgressRow& row : table.rows)
    if (!row.odd.empty()) stalls.add(Stall::Kind::differs, row.odd, row, false);

  const Rows rows = telling(table);
  const WaitsOf<int> waits = waits_of(table);
  const bool circular = waits.circular();
  for (const ProgressRow* row : rows) {
    const std::set<int> missing = row->with(HowFar::not_entered);
    if (is_ahead(*row, waits.waiting)) {
      stalls.add(Stall::Kind::ahead, row->inside(), *row, false);
      continue;
    }
    if (row->behind.words.empty()) continue;
    std::set<int> late;
    for (const int member : missing)
      if (waits.is_origin(member) || (circular && table.names_circles)) late.insert(member);
    if (!late.empty() || missing.empty()) stalls.add(Stall::Kind::behind, late, *row, circular);
  }
  for (const ProgressRow& row : table.rows)
    if (!row.all_entered.words.empty() && row.odd.empty() && !tells_missing(row) &&
        row.inside().size() == row.members.size())
      stalls.add(Stall::Kind::all_entered, {}, row, false);
  return stalls.take();
}

}  // namespace faultline
