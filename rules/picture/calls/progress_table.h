// How far ranks came in operations, whoever tells it: NCCL's RAS, PyTorch's watchdog, a barrier, a
// desync report, Horovod's list, JAX's coordination service. An adapter for each witness (told/)
// writes its table. What follows is worked out once for all: who is behind, who is ahead, or that
// everybody is there and nothing ends.
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
  std::vector<const LineRef*> lines;  // that tell it
  std::string_view aside;             // what else is known of it: "its watchdog is stuck"
};

// What a witness can say of an operation.
struct Telling {
  std::string words;  // follow the names of the ranks; empty: it cannot say this
  Sureness sure;
  bool whole = false;  // the words are the whole sentence
};

// An operation that all members come to, or one of many alike.
struct ProgressRow {
  std::string communicator;               // NCCL's id, if the witness knows it
  std::string group;                      // by what other name the witness knows the members
  std::optional<std::uint64_t> sequence;  // of operations of one group the first counts
  std::map<int, Came> members;
  std::set<int> odd;        // called something else there
  std::size_t unnamed = 0;  // have not entered it, and the witness does not say which
  bool is_part = false;     // others may be missing, too
  bool at_start = false;    // all come to it as they start: who did not, never joined
  bool is_pulse = false;    // the witness heard nothing more of a rank, wherever that stood
  bool is_loss = false;     // who did not come is the peer that the others lost
  bool is_leave = false;    // who did not come had come to the end of its program
  EventTime since;
  std::string called_at;          // where in the program; empty: no stack tells
  const LineRef* line = nullptr;  // that tells of the operation
  Telling behind;
  Telling ahead;
  Telling all_entered;  // only of a row that has all members
  Telling differs;

  std::set<int> with(HowFar how_far) const;
  std::set<int> inside() const;  // entered it and did not come out
};

struct ProgressTable {
  std::vector<ProgressRow> rows;  // those that tell best come first
  bool names_circles = false;     // ranks are named even if all who are waited for wait themselves

  // Of members, in the words of the job.
  std::function<std::string(const std::set<int>&)> names;
  std::function<Subject(const std::set<int>&)> subject;
};

// Who is waited for and who waits. Operations are nested: who is late in one may wait in another.
// Those who are waited for and wait for nobody are where it began.
template <class Who>
struct WaitsOf {
  std::set<Who> waited_for;
  std::set<Who> waiting;

  bool circular() const {  // all who are waited for wait themselves
    return !waited_for.empty() && std::ranges::includes(waiting, waited_for);
  }
  bool is_origin(const Who& who) const {
    return waited_for.contains(who) && !waiting.contains(who);
  }
};

// What the rows of a witness come to.
struct Stall {
  enum class Kind : std::uint8_t { behind, ahead, all_entered, differs };
  Kind kind = Kind::behind;
  std::set<int> who;                     // none: nobody is named
  std::vector<const ProgressRow*> rows;  // that tell it, the best first
  bool circular = false;

  const Telling& telling() const;
};

WaitsOf<int> waits_of(const ProgressTable& table);
std::vector<Stall> stalls_of(const ProgressTable& table);

}  // namespace faultline
