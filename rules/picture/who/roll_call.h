// The ranks of the job: how many there are, by any witness, and which of them were heard.
//
// A rank that was not heard has sent nothing. That is no reason to blame it; the answer asks for
// its log.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "rules/state/job_state.h"
#include "rules/state/workers.h"

namespace faultline {

struct RollCall {
  int expected = 0;  // ranks of the job; 0: not known
  int seen = 0;      // ranks and processes that were heard
  std::set<int> heard;
  bool all_named = true;  // false: some processes were heard that may be any rank
  // The line that says how many ranks there are; absent: NCCL's own lines say it, or nothing does.
  std::optional<LineRef> told_by;

  bool all_heard() const { return seen >= expected; }  // as far as the ranks of the job are known
  std::vector<int> unheard() const;                    // ascending; empty if not all are named
};

// `attempts`: how often the job was started. Only NCCL's lines distinguish attempts.
RollCall roll_call(const JobState& job, const Workers& workers, int attempts);

}  // namespace faultline
