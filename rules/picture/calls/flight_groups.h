// Who is where in the process groups of Flight Recorder dumps: the dump that stands for each rank
// of a group, what it says of a collective of which it has no entry, and which calls are the same
// one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "rules/state/flight.h"

namespace faultline {

// How far a rank came with one operation of a group.
enum class FlightStanding : std::uint8_t {
  no_dump,      // or one that was not read; nothing is known of the rank
  unknown,      // its dump does not reach so far, or does not say
  not_entered,  // by its dump, it had not called the operation
  entered,      // called, and no end was seen
  started,      // entered, and its GPU began; known only with timing
  finished,
};

// One rank's place in one group.
struct FlightPlace {
  int rank = -1;
  std::size_t dump = SIZE_MAX;
  const FlightPosition* position = nullptr;
};

struct FlightPlaces {
  std::uint32_t group = 0;          // index into Flight::groups()
  std::vector<FlightPlace> places;  // of ranks that have a position, by rank
  std::int64_t local_id = -1;       // if all ranks have the same one; else -1
  bool point_to_point = false;      // its counters then count Sends and Recvs too
};

// By group. `latest` is Flight::latest().
std::vector<FlightPlaces> places_in_groups(const Flight& flight,
                                           const std::multimap<int, std::size_t>& latest);

// By rank: its dump, if that has entries. Indices into Flight::dumps().
std::map<int, std::size_t> dumps_with_entries(const Flight& flight,
                                              const std::multimap<int, std::size_t>& latest);

// A collective, or one of a batch of them.
inline bool is_collective(const FlightEntry& entry) {
  return !entry.point_to_point && entry.role != FlightRole::batch_end;
}

// Whether other ranks must make the same call under the same number. Entries of a batch share one
// number, so a batch is not compared.
inline bool is_compared(const FlightEntry& entry) {
  return entry.role == FlightRole::collective && !entry.point_to_point;
}

// How far a rank came with collectives of which its dump has no entry.
class WithoutEntry {
 public:
  WithoutEntry(const FlightDump& dump, const FlightPlace& place, const FlightPlaces& group);

  FlightStanding standing(std::uint32_t sequence) const;

 private:
  const FlightPosition& position_;
  const FlightCounters* nameless_;
  bool counters_count_ = true;
  std::optional<std::uint32_t> last_;  // collective of which it has an entry
};

// How far a member came whose dump has no position in the group.
FlightStanding standing_without_position(const Flight& flight, int member,
                                         const std::map<int, std::size_t>& dump_of_rank);

// What ranks must agree on in a collective, as one number per signature.
class FlightComparable {
 public:
  explicit FlightComparable(const Flight& flight) : flight_(flight) {}

  std::uint32_t operator()(std::uint32_t signature);

 private:
  const Flight& flight_;
  std::unordered_map<std::uint32_t, std::uint32_t> known_;
  std::unordered_map<std::string, std::uint32_t> texts_;
};

}  // namespace faultline
