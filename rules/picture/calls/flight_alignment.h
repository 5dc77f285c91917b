// Where the ranks of a job stand to each other, by the dumps of their Flight Recorders: by group,
// in which operation they are stuck, and who is missing there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "rules/state/flight.h"

namespace faultline {

// How a rank stands to one operation of a group.
enum class FlightStanding : std::uint8_t {
  no_dump,      // or one that was not read: nothing is known, and that may have a reason
  unknown,      // its dump does not reach so far, or does not tell
  not_entered,  // it has a dump, and had not called it
  entered,      // called, and no end of it seen
  started,      // so, and its GPU was seen to begin; told only where there is timing
  finished,
};

struct FlightStall {
  struct Rank {
    int rank = -1;
    std::size_t dump = SIZE_MAX;  // index into Flight::dumps()
    FlightStanding standing = FlightStanding::no_dump;
    bool by_counters = false;  // it has no entry of the operation; what else it says tells
    // Of those that finished: whether they are stuck in a later one, and how many they finished
    // before that.
    bool stuck_later = false;
    std::uint32_t ahead = 0;
  };

  std::uint32_t group = 0;
  std::uint32_t sequence = 0;   // of the first collective that somebody entered and did not finish
  std::uint32_t signature = 0;  // as most of them called it
  std::int64_t since_us = 0;    // when the first of them called it, by its clock; 0: not told
  std::vector<Rank> ranks;      // the group's members

  std::vector<int> with(FlightStanding standing) const;
};

// A collective of one number that ranks called in different ways.
struct FlightMismatch {
  struct Camp {
    std::uint32_t signature = 0;
    std::vector<int> ranks;
  };
  std::uint32_t group = 0;
  std::uint32_t sequence = 0;
  std::vector<Camp> camps;  // largest first
  // As many ranks in the first as in the second, and what groups of the same kind called there
  // agrees with the first alone.
  bool told_by_like_groups = false;
  std::int64_t since_us = 0;  // when the first rank called it; 0: not told
};

// The oldest call that a rank has not come out of. What it called after that waits behind it.
struct FlightFront {
  std::size_t dump = SIZE_MAX;
  std::uint32_t group = 0;
  std::uint32_t entry = 0;
  std::uint32_t record = 0;
  std::int64_t created_us = 0;
  std::optional<std::uint32_t> collective;  // its sequence, if it is one
};

// A rank that went past a collective: it did not call it, but did call what all others of that
// group call after it only.
struct FlightOmission {
  int rank = -1;
  std::uint32_t group = 0;
  std::uint32_t sequence = 0;
  std::uint32_t signature = 0;
  std::uint32_t later_group = 0;
  std::uint32_t later_sequence = 0;
  std::uint32_t later_signature = 0;
};

// Two halves of a Send and its Recv that are not alike.
struct FlightPeerClash {
  std::uint32_t group = 0;
  int sender = -1;
  int receiver = -1;
  std::uint32_t sent = 0;  // signatures
  std::uint32_t received = 0;
};

// A Send or Recv that did not end. The peer has the other half of it waiting as well, or not.
struct FlightPeerWait {
  std::uint32_t group = 0;
  int rank = -1;
  int peer = -1;
  bool sends = false;
  bool peer_posted = false;
  bool peer_has_dump = false;
  std::size_t dump = SIZE_MAX;
  std::uint32_t entry = 0;
};

// Ranks of which each stands in what the next has not called, while that one stands in something
// else. Ranks that call in one order never come to that, whenever their dumps were taken.
struct FlightCircle {
  struct Wait {
    int rank = -1;
    int next = -1;
    FlightFront front = {};
    FlightEntry entry = {};  // in which it stands
  };
  std::vector<Wait> waits;
  // Of those that broke with the order of their own earlier steps; none: it does not show.
  std::vector<int> strayed;
};

struct FlightAlignment {
  std::vector<FlightStall> stalls;  // one for a group at most; that of the earliest call first
  std::vector<FlightMismatch> mismatches;  // the first of each group
  std::vector<FlightPeerWait> peer_waits;  // the first of each pair of ranks and direction

  // Ranks that entered everything, and whose GPU did not do what their peers' GPUs did.
  std::vector<int> unfinished;

  std::map<int, FlightFront> fronts;  // by rank; those of ranks that wait for nothing are missing
  std::vector<FlightOmission> omissions;
  std::vector<FlightPeerClash> clashes;
  std::vector<int> deadlock;  // ranks that each wait in a Send or Recv for the next of them to come
                              // out of another one
  FlightCircle circle;        // over collectives, and Sends and Recvs; without waits: there is none
  // Into stalls: all members entered it, none came out, and none stands before it.
  std::optional<std::size_t> standing;

  // Whether it is what the rank waits for, and not what waits behind that.
  bool stands_in(int rank, const FlightStall& stall) const;
};

FlightAlignment align_flight(const Flight& flight);

}  // namespace faultline
