// How far ranks came in operations, from any witness: NCCL's RAS, PyTorch's watchdog, a barrier, a
// desync report, Horovod's list, JAX's coordination service. Each witness has an adapter (told/)
// that writes its table. The conclusions are drawn here for all: who is behind, who is ahead, or
// that all ranks entered an operation that does not end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/finding.h"
#include "rules/knowledge/sureness.h"
#include "rules/state/line_ref.h"

namespace faultline {

enum class HowFar : std::uint8_t { unknown, not_entered, entered, started, finished };

struct Came {
  HowFar how_far = HowFar::unknown;
  std::vector<const LineRef*> lines;  // that show it
  std::string aside;                  // what else is known: "its watchdog is stuck"
};

// What a witness can say about an operation.
struct Telling {
  std::string words;  // follows the names of the ranks; empty: it cannot say this
  Sureness sure;
  bool whole = false;  // `words` is the whole sentence
};

// An operation that all members enter.
struct ProgressRow {
  std::string communicator;               // NCCL's id, if the witness gives it
  std::string group;                      // the witness's own name for the members
  std::optional<std::uint64_t> sequence;  // of the operations of a group, only the first counts
  std::map<int, Came> members;
  std::set<int> odd;        // members that called something else
  std::size_t unnamed = 0;  // members that have not entered it, but are not named
  bool is_part = false;     // other members may be missing too
  bool at_start = false;    // all ranks enter it at their start: a missing one never joined
  bool is_pulse = false;    // the witness heard nothing more from a rank, wherever it was
  bool is_loss = false;     // the missing member is the peer that the others lost
  bool is_leave = false;    // the missing member had reached the end of its program
  bool is_held = false;     // the late members wait in a call that the others finished
  EventTime since;
  std::string called_at;          // the place in the program; empty: no stack shows it
  const LineRef* line = nullptr;  // that reports the operation
  Telling behind;
  Telling ahead;
  Telling all_entered;  // only if the row has all members
  Telling differs;

  std::set<int> with(HowFar how_far) const;
  std::set<int> inside() const;  // entered it and have not finished it
};

struct ProgressTable {
  std::vector<ProgressRow> rows;  // the most informative first
  bool names_circles = false;     // name ranks even if every awaited rank waits too

  // Names of members, as titles of the job have them.
  std::function<std::string(const std::set<int>&)> names;
  std::function<Subject(const std::set<int>&)> subject;
};

// Which ranks wait, and for which. Operations are nested: a rank that is late in one may wait in
// another. The stall began at the ranks that others wait for and that do not wait themselves.
template <class Who>
struct WaitsOf {
  std::set<Who> waited_for;
  std::set<Who> waiting;

  bool circular() const {  // every awaited rank waits too
    return !waited_for.empty() && std::ranges::includes(waiting, waited_for);
  }
  bool is_origin(const Who& who) const {
    return waited_for.contains(who) && !waiting.contains(who);
  }
};

// What follows from the rows of a witness.
struct Stall {
  enum class Kind : std::uint8_t { behind, ahead, all_entered, differs };
  Kind kind = Kind::behind;
  std::set<int> who;                     // empty: no rank is named
  std::vector<const ProgressRow*> rows;  // that show it, the best first
  bool circular = false;

  const Telling& telling() const;
};

WaitsOf<int> waits_of(const ProgressTable& table);
std::vector<Stall> stalls_of(const ProgressTable& table);

}  // namespace faultline
