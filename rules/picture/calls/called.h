// What each member of a communicator called, position by position: the alignment's positions,
// filled with the calls that are known there. It moves no rank: where a rank stands, the alignment
// says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "rules/picture/calls/alignment.h"
#include "rules/picture/calls/flight_groups.h"
#include "rules/state/recent_calls.h"

namespace faultline {

// Positions from `from` to before `to`, counted as in what they are positions of.
struct Positions {
  std::uint64_t from = 0;
  std::uint64_t to = 0;

  std::size_t size() const { return from < to ? static_cast<std::size_t>(to - from) : 0; }
  bool has(std::uint64_t position) const { return position >= from && position < to; }
};

// At each position the number of a call, or one of these.
inline constexpr std::uint32_t kNotReached = UINT32_MAX;
inline constexpr std::uint32_t kNotKnown = UINT32_MAX - 1;
// Added to the number of a call of a batch: its ranks need not make the same call there.
inline constexpr std::uint32_t kOfBatch = 1U << 30;
using CalledThere = std::vector<std::uint32_t>;

// Numbers of those who called the same at all positions: members of Progress, or ranks.
using Callers = std::map<CalledThere, std::vector<std::size_t>>;

// By Progress::signature. The members of the communicator that the alignment could not place are at
// no known position. If their calls were counted from the first, all are known, else only recent
// ones.
Callers callers_of(const Progress& progress, const Communicator& communicator,
                   const Alignment& alignment, Positions positions);

// A recent call of a member of the alignment, and its position.
struct PlacedCall {
  std::uint64_t position = 0;
  RecentCall call;
};

// Of alignment.members[which], the latest first. A call that is older than the alignment's
// positions is left out.
std::vector<PlacedCall> recent_calls_of(const Progress& progress, const Alignment& alignment,
                                        std::size_t which);

// The same of the ranks of a process group, by Flight::signature; positions are numbers of its
// sequence. Calls that rightly differ by rank have one number.
Callers callers_of(const Flight& flight, const FlightPlaces& group,
                   const std::map<int, std::size_t>& dump_of_rank, Positions positions);

// The numbers of the group's collectives that some rank's dump has.
Positions recorded_positions(const FlightPlaces& group);

}  // namespace faultline
