// Where the ranks of one communicator stand relative to each other, by position in its sequence of
// collectives. NCCL's own opCount is no position: healthy ranks differ in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rules/state/communicators.h"
#include "rules/state/progress.h"

namespace faultline {

// What positions rest on, the firmest first.
enum class Basis {
  counted,   // every rank's calls were counted from its first one on
  op_count,  // NCCL's op counts, which were seen to count alike on these ranks
  sequence,  // the order of different calls
};

// The first position at which ranks called different things.
struct Divergence {
  std::uint64_t position = 0;                               // counted from 0
  std::map<std::uint32_t, std::vector<std::size_t>> camps;  // what was called -> members that did
  // Whether the smaller camp left one call out. Told here only where positions are not counted.
  std::optional<bool> skipped;
};

struct Alignment {
  std::size_t communicator = 0;          // index into the communicators
  std::vector<std::size_t> members;      // those that can be compared
  std::vector<std::uint64_t> positions;  // of each of them: collectives entered
  std::vector<std::size_t> unaligned;    // nothing tells their position
  Basis basis = Basis::counted;
  double loss = 0;  // share of lines that seem to be missing
  std::uint64_t furthest = 0;
  std::uint64_t slowest = 0;
  std::vector<std::size_t> behind;       // members at `slowest`, if not all are
  std::optional<std::uint32_t> missed;   // what the others called after that
  std::vector<std::uint64_t> op_counts;  // by position, if the basis is the op count
  std::optional<Divergence> divergence;

  bool in_step() const { return behind.empty() && !divergence; }
  std::uint64_t position_of(std::size_t member) const;
  // How people find the call at a position: "#101", "opCount 64"; "" if nothing names it.
  std::string label(std::uint64_t position) const;
};

// counts_are_whole: false where other communicators of the job have shown that lines are missing.
Alignment align(const Progress& progress, const std::vector<Communicator>& communicators,
                std::size_t which, bool counts_are_whole = true);

}  // namespace faultline
