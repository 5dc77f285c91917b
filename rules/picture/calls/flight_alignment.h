// Where the ranks of a job stand, by their Flight Recorder dumps: for each group, in which
// operation they are stuck and which ranks are missing there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "rules/picture/calls/flight_groups.h"
#include "rules/state/flight.h"

namespace faultline {

struct FlightStall {
  struct Rank {
    int rank = -1;
    std::size_t dump = SIZE_MAX;  // index into Flight::dumps()
    FlightStanding standing = FlightStanding::no_dump;
    bool by_counters = false;  // its dump has no entry of the operation; its counters say it
    // If it finished: whether it is stuck in a later operation, and how many it finished before
    // that.
    bool stuck_later = false;
    std::uint32_t ahead = 0;
  };

  std::uint32_t group = 0;
  std::uint32_t sequence = 0;   // of the first collective that a rank entered and did not finish
  std::uint32_t signature = 0;  // as most ranks called it
  std::int64_t since_us = 0;    // when the first rank called it, by its clock; 0: not known
  std::vector<Rank> ranks;      // the group's members

  std::vector<int> with(FlightStanding standing) const;
};

// Ranks called different things as the same number of a group's sequence.
struct FlightMismatch {
  struct Camp {
    std::uint32_t signature = 0;
    std::vector<int> ranks;
  };
  std::uint32_t group = 0;
  std::uint32_t sequence = 0;
  std::vector<Camp> camps;  // largest first
  // The first two camps have the same size, and what groups of the same kind called there agrees
  // only with the first.
  bool told_by_like_groups = false;
  std::int64_t since_us = 0;  // when the first rank called it; 0: not known
};

// The oldest call that a rank has not finished. Its later calls wait behind it.
struct FlightFront {
  std::size_t dump = SIZE_MAX;
  std::uint32_t group = 0;
  std::uint32_t entry = 0;
  std::uint32_t record = 0;
  std::int64_t created_us = 0;
  std::optional<std::uint32_t> collective;  // its sequence, if it is one
};

// A rank that skipped a collective: it did not call it, but made a later call that all other ranks
// of the group made only after the collective.
struct FlightOmission {
  int rank = -1;
  std::uint32_t group = 0;
  std::uint32_t sequence = 0;
  std::uint32_t signature = 0;
  std::uint32_t later_group = 0;
  std::uint32_t later_sequence = 0;
  std::uint32_t later_signature = 0;
};

// A Send and its Recv that do not match.
struct FlightPeerClash {
  std::uint32_t group = 0;
  int sender = -1;
  int receiver = -1;
  std::uint32_t sent = 0;  // signatures
  std::uint32_t received = 0;
};

// A Send or Recv that did not end. peer_posted: the peer also waits in the other half.
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

// A circle of ranks: each waits in a call that the next rank has not made, because that rank waits
// in another call. Ranks that make their calls in one order never form a circle, no matter when
// their dumps were taken.
struct FlightCircle {
  struct Wait {
    int rank = -1;
    int next = -1;
    FlightFront front = {};
    FlightEntry entry = {};  // the call in which it waits
  };
  std::vector<Wait> waits;
  // The ranks that left the order of their own earlier steps; empty: not known.
  std::vector<int> strayed;
};

struct FlightAlignment {
  std::vector<FlightStall> stalls;         // at most one for each group; the earliest call first
  std::vector<FlightMismatch> mismatches;  // the first of each group
  std::vector<FlightPeerWait> peer_waits;  // the first of each pair of ranks and direction

  // Ranks that entered every call, but whose GPU did not finish what their peers' GPUs finished.
  std::vector<int> unfinished;

  std::map<int, FlightFront> fronts;  // by rank; a rank that waits for nothing has none
  std::vector<FlightOmission> omissions;
  std::vector<FlightPeerClash> clashes;
  std::vector<int> deadlock;  // ranks that each wait in a Send or Recv for the next rank, which
                              // waits in another one
  FlightCircle circle;        // over collectives, Sends and Recvs; no waits: no circle
  // Index into stalls: all members entered the operation, none finished it, and none is stuck
  // before it.
  std::optional<std::size_t> standing;

  // Whether the rank waits in the operation of this stall, and not in an earlier one.
  bool stands_in(int rank, const FlightStall& stall) const;
};

FlightAlignment align_flight(const Flight& flight);

}  // namespace faultline
