// A common axis for the ranks of a communicator, worked out from the last calls of each. Used if
// counting from the start gives no positions: the log begins in mid-run, or lines were lost.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rules/state/recent_calls.h"

namespace faultline {

// What is used to place one rank.
struct Tail {
  const RecentCalls* recent = nullptr;
  bool from_start = false;  // its log was read from before its first call
  std::uint64_t calls = 0;  // all that were seen, Sends and Recvs too
  std::uint64_t first_op_count = 0;
  std::uint64_t last_op_count = 0;
};

struct Axis {
  // By tail: collectives entered, counted from an arbitrary zero; nullopt if the rank could not be
  // placed.
  std::vector<std::optional<std::uint64_t>> positions;
  std::vector<std::uint32_t> calls;      // the call at each position, from that zero
  std::vector<std::uint64_t> op_counts;  // by position; empty if ranks differ in them
  std::uint64_t furthest = 0;
  double loss = 0;  // share of missing lines, as the ranks' logs show it of each other

  // A rank that called something else than the others at the same op counts, up to its last call.
  struct Odd {
    std::size_t tail = 0;
    std::uint64_t position = 0;  // of the first such call
    std::uint32_t call = 0;
    bool shifted = false;  // its calls match the others' one op count later
  };
  std::vector<Odd> odd;
};

// By NCCL's opCount, if it counts the same on all ranks (2.3 to 2.7, and most of 2.9 to 2.26); else
// nullopt.
std::optional<Axis> axis_by_op_count(const std::vector<Tail>& tails);

// By the order of different calls. Ranks that only repeat one call are taken to be in step.
Axis axis_by_sequence(const std::vector<Tail>& tails);

}  // namespace faultline
