// Three clocks tell of a job that hangs: what NCCL's lines show as entered, what PyTorch's
// watchdogs say was enqueued and completed, what its Flight Recorders saw of both. Where they tell
// of one event, it is one finding, with lines of each.
#pragma once

#include <string>
#include <vector>

#include "rules/knowledge/suspicion.h"
#include "rules/picture/view.h"
#include "rules/story/inference.h"

namespace faultline {

// Classes that are told by which calls ranks made.
bool is_of_calls(const std::string& cause);

// Findings of one event that several clocks tell become one. Nothing must be linked yet.
void join_clocks(const View& view, std::vector<Candidate>& candidates);

// What follows from a finding and is told by another clock bears witness to it as well.
void call_witnesses(std::vector<Candidate>& candidates);

}  // namespace faultline
