// A common axis for the ranks of a communicator where counting calls from the start gives no
// positions: logs that begin in mid-run, and logs that lost lines. Read off the last calls of each.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rules/state/recent_calls.h"

namespace faultline {

// What one rank is placed by.
struct Tail {
  const RecentCalls* recent = nullptr;
  bool from_start = false;  // its log was read from before its first call
  std::uint64_t calls = 0;  // all that were seen, Send and Recv as well
  std::uint64_t first_op_count = 0;
  std::uint64_t last_op_count = 0;
};

struct Axis {
  // By tail: collectives entered, counted from an arbitrary zero; nothing where a rank could not be
  // placed.
  std::vector<std::optional<std::uint64_t>> positions;
  std::vector<std::uint32_t> calls;      // what is called at each position, from the zero
  std::vector<std::uint64_t> op_counts;  // of each; empty if they are not the same for all ranks
  std::uint64_t furthest = 0;
  double loss = 0;  // share of lines that are missing, as far as the ranks show it of each other

  // A rank that called something else than the others at the same op counts, until its end.
  struct Odd {
    std::size_t tail = 0;
    std::uint64_t position = 0;  // of the first such call
    std::uint32_t call = 0;
    bool shifted = false;  // its calls agree with the others' when counted one later
  };
  std::vector<Odd> odd;
};

// By NCCL's opCount, where it counts the same on all ranks (2.3 to 2.7, and most of 2.9 to 2.26).
// Nothing if it does not.
std::optional<Axis> axis_by_op_count(const std::vector<Tail>& tails);

// By the order of different calls. Ranks that only repeat one call are taken to be in step.
Axis axis_by_sequence(const std::vector<Tail>& tails);

}  // namespace faultline
