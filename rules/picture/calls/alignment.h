// Where the ranks of one communicator stand relative to each other, by position in its sequence of
// collectives. NCCL's opCount is no position: it differs between healthy ranks.
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

// What positions are based on, the most reliable first.
enum class Basis {
  counted,   // each rank's calls were counted from its first call on
  op_count,  // NCCL's op counts, which proved to count alike on these ranks
  sequence,  // the order of different calls
};

// The first position at which ranks called different things.
struct Divergence {
  std::uint64_t position = 0;                               // counted from 0
  std::map<std::uint32_t, std::vector<std::size_t>> camps;  // call -> members that made it
  // Whether the smaller camp left one call out. Not set if the basis is `counted`.
  std::optional<bool> skipped;
};

struct Alignment {
  std::size_t communicator = 0;          // index into the communicators
  std::vector<std::size_t> members;      // those that can be compared
  std::vector<std::uint64_t> positions;  // of each: collectives entered
  std::vector<std::size_t> unaligned;    // members whose position is not known
  Basis basis = Basis::counted;
  double loss = 0;  // share of lines that seem to be missing
  std::uint64_t furthest = 0;
  std::uint64_t slowest = 0;
  std::vector<std::size_t> behind;       // members at `slowest`, if not all are
  std::optional<std::uint32_t> missed;   // what the others called next
  std::vector<std::uint32_t> calls;      // by position, unless counted: the ranks' common calls
  std::vector<std::uint64_t> op_counts;  // by position, if the basis is the op count
  std::optional<Divergence> divergence;

  bool in_step() const { return behind.empty() && !divergence; }
  // The call's name in titles: "#101", "opCount 64"; "" if it has none.
  std::string label(std::uint64_t position) const;
};

// Where a member stands; without an alignment if it cannot be compared with others.
struct AlignedPlace {
  const Alignment* alignment = nullptr;
  std::uint64_t position = 0;

  bool is_behind() const {
    return alignment != nullptr && !alignment->behind.empty() && position == alignment->slowest;
  }
  std::uint64_t lacks() const { return alignment == nullptr ? 0 : alignment->furthest - position; }
};

// By member: an index into Progress::members(), of which there are `members`.
std::vector<AlignedPlace> aligned_places(const std::vector<Alignment>& alignments,
                                         std::size_t members);

// counts_are_whole: false if other communicators of the job have shown that lines are missing.
Alignment align(const Progress& progress, const std::vector<Communicator>& communicators,
                std::size_t which, bool counts_are_whole = true);

}  // namespace faultline
