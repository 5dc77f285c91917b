#include "rules/alignment.h"

#include <algorithm>

namespace faultline {
namespace {

// A log that repeats another's calls only in part is no copy of it: part of it was not counted.
bool position_known(const Member& member) {
  return member.repeated_calls == 0 || member.repeated_calls == member.calls;
}

bool left_cleanly(const Member& member) { return member.ending == CommunicatorEnding::destroyed; }

// Which members can be compared.
void select(const Progress& progress, const Communicator& communicator, Alignment& alignment) {
  const auto& members = progress.members();
  std::vector<std::size_t> from_start;
  std::vector<std::size_t> mid_run;
  std::set<std::optional<std::uint64_t>> first_op_counts;
  for (std::size_t index : communicator.members) {
    const Member& member = members[index];
    if (!position_known(member)) {
      alignment.unaligned.push_back(index);
    } else if (member.from_start) {
      from_start.push_back(index);
    } else {
      mid_run.push_back(index);
      first_op_counts.insert(member.first_op_count);
    }
  }
  if (from_start.empty() && first_op_counts.size() == 1) {
    alignment.members = std::move(mid_run);
    alignment.from_start = false;
    return;
  }
  alignment.members = std::move(from_start);
  alignment.unaligned.insert(alignment.unaligned.end(), mid_run.begin(), mid_run.end());
}

std::optional<Divergence> divergence_of(const Progress& progress,
                                        const std::vector<std::size_t>& members) {
  // Members on one branch agree, so one of each branch, the furthest, stands for them all.
  std::map<std::uint32_t, History::Place> places;
  for (std::size_t index : members) {
    const History::Place& place = progress.members()[index].place;
    auto [at, is_new] = places.try_emplace(place.branch, place);
    if (!is_new && at->second.position < place.position) at->second = place;
  }
  std::optional<std::uint64_t> first;
  for (auto a = places.begin(); a != places.end(); ++a) {
    for (auto b = std::next(a); b != places.end(); ++b) {
      std::uint64_t shared = progress.history().common(a->second, b->second);
      bool both_went_on = shared < std::min(a->second.position, b->second.position);
      if (both_went_on && (!first || shared < *first)) first = shared;
    }
  }
  if (!first) return std::nullopt;
  Divergence divergence{.position = *first, .camps = {}};
  for (std::size_t index : members) {
    const History::Place& place = progress.members()[index].place;
    if (place.position > *first)
      divergence.camps[progress.history().call_at(place, *first)].push_back(index);
  }
  return divergence;
}

}  // namespace

Alignment align(const Progress& progress, const std::vector<Communicator>& communicators,
                std::size_t which) {
  Alignment alignment;
  alignment.communicator = which;
  select(progress, communicators[which], alignment);
  const auto& members = progress.members();
  if (alignment.members.empty()) return alignment;

  auto position = [&](std::size_t index) { return members[index].place.position; };
  alignment.slowest = position(alignment.members.front());
  for (std::size_t index : alignment.members) {
    alignment.furthest = std::max(alignment.furthest, position(index));
    alignment.slowest = std::min(alignment.slowest, position(index));
  }
  alignment.divergence = divergence_of(progress, alignment.members);

  // A communicator that all have left in good order is over; a last line lost on the way means
  // nothing.
  bool over = std::ranges::all_of(alignment.members,
                                  [&](std::size_t index) { return left_cleanly(members[index]); });
  if (alignment.slowest == alignment.furthest || over) return alignment;
  for (std::size_t index : alignment.members)
    if (position(index) == alignment.slowest) alignment.behind.push_back(index);
  return alignment;
}

}  // namespace faultline
