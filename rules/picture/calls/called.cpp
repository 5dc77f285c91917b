#include "rules/picture/calls/called.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace faultline {
namespace {

using Symbols = std::vector<std::uint32_t>;

// Where each call of `part` stands in `whole`, which is `part` with more calls between; empty if it
// is not.
std::vector<std::size_t> places_within(const Symbols& part, const Symbols& whole) {
  std::vector<std::size_t> places;
  std::size_t at = 0;
  for (const std::uint32_t symbol : part) {
    while (at < whole.size() && whole[at] != symbol) ++at;
    if (at == whole.size()) return {};
    places.push_back(at++);
  }
  return places;
}

// Calls with one op count share a few positions. A rank that called something else there is placed
// from the first of them on, as the alignment does.
std::vector<PlacedCall> placed_by_op_count(const RecentCalls& recent, const Alignment& alignment) {
  std::vector<PlacedCall> placed;
  for (std::size_t end = recent.size(); end > 0;) {
    const std::uint64_t op_count = recent[end - 1].op_count;
    std::size_t begin = end;
    Symbols calls;
    while (begin > 0 && recent[begin - 1].op_count == op_count) --begin;
    for (std::size_t i = begin; i < end; ++i) calls.push_back(recent[i].symbol);
    const auto [first, last] = std::ranges::equal_range(alignment.op_counts, op_count);
    const auto start = static_cast<std::size_t>(first - alignment.op_counts.begin());
    const auto length = static_cast<std::size_t>(last - first);
    const Symbols common(alignment.calls.begin() + static_cast<std::ptrdiff_t>(start),
                         alignment.calls.begin() + static_cast<std::ptrdiff_t>(start + length));
    const std::vector<std::size_t> places = places_within(calls, common);
    for (std::size_t i = calls.size(); i-- > 0;) {
      const std::size_t place = places.empty() ? i : places[i];
      if (place < length) placed.push_back({start + place, recent[begin + i]});
    }
    end = begin;
  }
  return placed;
}

// The rank's calls are a part of the common ones before its position. If lines of a call that is
// repeated are missing, the earliest of them are.
std::vector<PlacedCall> placed_by_sequence(const RecentCalls& recent, const Alignment& alignment,
                                           std::uint64_t position) {
  std::vector<PlacedCall> placed;
  std::uint64_t before = std::min<std::uint64_t>(position, alignment.calls.size());
  for (std::size_t i = recent.size(); i-- > 0;) {
    while (before > 0 && alignment.calls[before - 1] != recent[i].symbol) --before;
    if (before == 0) break;
    placed.push_back({--before, recent[i]});
  }
  return placed;
}

std::vector<PlacedCall> placed_by_counting(const RecentCalls& recent, std::uint64_t position) {
  std::vector<PlacedCall> placed;
  for (std::size_t i = recent.size(); i-- > 0 && position > 0;)
    placed.push_back({--position, recent[i]});
  return placed;
}

void forget_after(CalledThere& called, Positions positions, std::uint64_t entered) {
  for (std::size_t i = 0; i < called.size(); ++i)
    if (positions.from + i >= entered) called[i] = kNotReached;
}

CalledThere counted_calls(const History& history, const History::Place& place,
                          Positions positions) {
  CalledThere called(positions.size(), kNotReached);
  for (std::size_t i = 0; i < called.size() && positions.from + i < place.position; ++i)
    called[i] = history.call_at(place, positions.from + i);
  return called;
}

// Members that were counted and are on one branch of the history called the same, as far as each
// came: a job has many ranks and few branches.
void add_counted(const Progress& progress, const Alignment& alignment, Positions positions,
                 Callers& callers) {
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<std::size_t>> by_place;
  for (const std::size_t member : alignment.members) {
    const History::Place& place = progress.members()[member].place;
    by_place[{place.branch, place.position}].push_back(member);
  }
  for (const auto& [at, members] : by_place) {
    const History::Place place{.branch = at.first, .position = at.second};
    std::vector<std::size_t>& alike = callers[counted_calls(progress.history(), place, positions)];
    alike.insert(alike.end(), members.begin(), members.end());
  }
}

}  // namespace

Callers callers_of(const Progress& progress, const Communicator& communicator,
                   const Alignment& alignment, Positions positions) {
  Callers callers;
  if (alignment.basis == Basis::counted) {
    add_counted(progress, alignment, positions, callers);
  } else {
    for (std::size_t which = 0; which < alignment.members.size(); ++which) {
      CalledThere called(positions.size(), kNotKnown);
      for (const PlacedCall& placed : recent_calls_of(progress, alignment, which))
        if (positions.has(placed.position))
          called[placed.position - positions.from] = placed.call.symbol;
      forget_after(called, positions, alignment.positions[which]);
      callers[std::move(called)].push_back(alignment.members[which]);
    }
  }
  std::vector<std::size_t> placed = alignment.members;
  std::ranges::sort(placed);
  for (const std::size_t member : communicator.members)
    if (!std::ranges::binary_search(placed, member))
      callers[CalledThere(positions.size(), kNotKnown)].push_back(member);
  return callers;
}

std::vector<PlacedCall> recent_calls_of(const Progress& progress, const Alignment& alignment,
                                        std::size_t which) {
  const RecentCalls& recent = progress.members()[alignment.members[which]].recent;
  switch (alignment.basis) {
    case Basis::counted:
      return placed_by_counting(recent, alignment.positions[which]);
    case Basis::op_count:
      return placed_by_op_count(recent, alignment);
    case Basis::sequence:
      break;
  }
  return placed_by_sequence(recent, alignment, alignment.positions[which]);
}

Callers callers_of(const Flight& flight, const FlightPlaces& group,
                   const std::map<int, std::size_t>& dump_of_rank, Positions positions) {
  Callers callers;
  FlightComparable comparable(flight);
  std::map<std::uint32_t, std::uint32_t> first_alike;  // signatures
  std::vector<std::size_t> placed;
  for (const FlightPlace& place : group.places) {
    const WithoutEntry without(flight.dumps()[place.dump], place, group);
    CalledThere called(positions.size());
    for (std::size_t i = 0; i < called.size(); ++i) {
      const auto sequence = static_cast<std::uint32_t>(positions.from + i);
      called[i] =
          without.standing(sequence) == FlightStanding::not_entered ? kNotReached : kNotKnown;
    }
    // The first entry of a number counts, as for a mismatch. Others are of a batch.
    for (const FlightEntry& entry : std::views::reverse(place.position->entries))
      if (is_collective(entry) && positions.has(entry.sequence))
        called[entry.sequence - positions.from] =
            is_compared(entry)
                ? first_alike.try_emplace(comparable(entry.signature), entry.signature)
                      .first->second
                : entry.signature | kOfBatch;
    placed.push_back(static_cast<std::size_t>(place.rank));
    callers[std::move(called)].push_back(placed.back());
  }
  std::ranges::sort(placed);
  for (const int member : flight.groups()[group.group].members) {
    const auto rank = static_cast<std::size_t>(member);
    if (std::ranges::binary_search(placed, rank)) continue;
    const bool entered_none =
        standing_without_position(flight, member, dump_of_rank) == FlightStanding::not_entered;
    callers[CalledThere(positions.size(), entered_none ? kNotReached : kNotKnown)].push_back(rank);
  }
  return callers;
}

Positions recorded_positions(const FlightPlaces& group) {
  Positions positions{.from = UINT64_MAX, .to = 0};
  for (const FlightPlace& place : group.places)
    for (const FlightEntry& entry : place.position->entries) {
      if (!is_collective(entry)) continue;
      positions.from = std::min<std::uint64_t>(positions.from, entry.sequence);
      positions.to = std::max<std::uint64_t>(positions.to, std::uint64_t{entry.sequence} + 1);
    }
  return positions.size() == 0 ? Positions{} : positions;
}

}  // namespace faultline
