// Attempts: a job may be started again under the same name. A fault of an earlier attempt does not
// explain the latest one.
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

// A process that takes over a GPU from an earlier process belongs to a later attempt, and so do all
// processes that share a communicator with it. Processes that use one GPU at the same time
// (training and inference side by side) belong to one attempt.
Attempts attempts_of(const Progress& progress);

}  // namespace faultline
