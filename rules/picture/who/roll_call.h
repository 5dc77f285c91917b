// Who is of the job: how many ranks it has, whoever tells, and which of them anything was heard of.
//
// A rank of which nothing was heard has sent nothing. That is no reason to blame it: it is asked
// for.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "rules/state/job_state.h"
#include "rules/state/workers.h"

namespace faultline {

struct RollCall {
  int expected = 0;  // ranks of the job; 0: nothing tells
  int seen = 0;      // ranks and processes of which something was heard
  std::set<int> heard;
  bool all_named = true;  // false: also of processes that may be any rank
  // What tells how many there are; absent: NCCL's own lines, or nothing.
  std::optional<LineRef> told_by;

  bool all_heard() const { return seen >= expected; }  // as far as it is known who is of the job
  std::vector<int> unheard() const;  // ascending; empty if it is not known who was heard
};

// `attempts`: how often the job was started. Only NCCL's lines tell one start from another.
RollCall roll_call(const JobState& job, const Workers& workers, int attempts);

}  // namespace faultline
