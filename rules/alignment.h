// Where the ranks of one communicator stand relative to each other, by position in its sequence of
// collectives. NCCL's own opCount is no position: healthy ranks differ in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "rules/state/communicators.h"
#include "rules/state/progress.h"

namespace faultline {

// The first position at which ranks called different things.
struct Divergence {
  std::uint64_t position = 0;                               // counted from 0
  std::map<std::uint32_t, std::vector<std::size_t>> camps;  // what was called -> members that did
};

struct Alignment {
  std::size_t communicator = 0;        // index into the communicators
  std::vector<std::size_t> members;    // those that can be compared
  std::vector<std::size_t> unaligned;  // their log began in mid-run: their position is not known
  bool from_start = true;  // false: all logs begin in mid-run, seemingly at the same call
  std::uint64_t furthest = 0;
  std::uint64_t slowest = 0;
  std::vector<std::size_t> behind;  // members at `slowest`, if not all are
  std::optional<Divergence> divergence;

  bool in_step() const { return behind.empty() && !divergence; }
};

Alignment align(const Progress& progress, const std::vector<Communicator>& communicators,
                std::size_t which);

}  // namespace faultline
