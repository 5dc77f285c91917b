// Attempts: a job that was started again under the same name. What an earlier attempt ran into is
// not what the latest one suffers from.
#pragma once

#include <map>
#include <vector>

#include "rules/state/process_key.h"
#include "rules/state/progress.h"

namespace faultline {

struct Attempts {
  int count = 1;
  std::vector<int> of_member;  // by Progress::members(), from 1
  std::map<ProcessKey, int> of_process;
};

// A process that takes over a GPU from one that had it before belongs to a later attempt, and so
// do all that share a communicator with it. Processes that use one GPU at the same time (training
// and inference side by side) are of one attempt.
Attempts attempts_of(const Progress& progress);

}  // namespace faultline
