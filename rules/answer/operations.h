// What the ranks of a communicator called, position by position, as the diagnosis aligns them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/finding.h"
#include "rules/state/job_state.h"

namespace faultline {

// Which positions are asked for, both inclusive.
struct OperationsAsked {
  std::optional<std::uint64_t> from;  // by default so that the last `limit` up to `to` are shown
  std::optional<std::uint64_t> to;    // by default the last that is known
  std::size_t limit = 100;
};

// Of a communicator, or a process group.
struct SomeMembers {
  std::string ranks;      // of the job: "0-7 12"; model/ranks.h. Lacks members of unknown rank
  std::size_t count = 0;  // of all of these members
};

// One call, as far as it is known.
struct OperationView {
  std::string text;  // AllReduce(count 1024, float32, sum)
  std::string function;
  std::optional<std::uint64_t> count;
  std::string sizes;      // of tensors, if a Flight Recorder tells it: [[1024]]; else empty
  std::string datatype;   // empty: not known
  std::string reduction;  // sum; empty: it does not reduce, or that is not known
  std::optional<int> root;
};

struct CalledView {
  OperationView operation;
  SomeMembers members;
};

struct PositionView {
  std::uint64_t position = 0;  // counted from 1
  std::string label;           // the call's name in titles of findings; empty: it has none
  bool differs = false;
  std::vector<CalledView> called;  // what most called, first
  SomeMembers not_reached;
  SomeMembers not_known;  // came so far or may have, and what they called is not known
  // When it was called, as far as lines tell; corrected if a host's clock is known to be wrong.
  std::optional<Timestamp> first;
  std::optional<Timestamp> last;
};

struct OperationsView {
  std::string communicator;
  int nranks = 0;
  int members_seen = 0;
  std::string basis;  // "counted", "op_count", "sequence", "recorded", "unknown"
  // The positions of which something is known; none if nothing is.
  std::optional<std::uint64_t> first_known;
  std::optional<std::uint64_t> last_known;
  std::optional<std::uint64_t>
      diverged_at;  // by the diagnosis, the first call that ranks differ in
  int attempt = 1;
  std::optional<Timestamp> as_of;
  std::vector<std::string> doubts;  // what the positions do not tell, in sentences
  std::vector<PositionView> operations;
  std::optional<std::uint64_t> next;  // the first position after these that is asked for
};

// Nothing: the attempt has no communicator or process group with this id. Positions that are not
// known are left out.
std::optional<OperationsView> operations_of(const JobState& job, const Diagnosis& diagnosis,
                                            std::string_view id, const OperationsAsked& asked);

}  // namespace faultline
