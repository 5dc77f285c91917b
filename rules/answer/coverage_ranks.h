// What is asked of ranks: their logs, their dumps, their stacks.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "model/finding.h"
#include "rules/picture/view.h"

namespace faultline {

// "3, 5 to 8, 12": a thousand ranks in one line.
std::string ranges(const std::vector<int>& numbers);
std::string ranges(const std::set<int>& numbers);

// Ranks of the job of which no line was seen, as far as lines tell how many it has.
std::vector<int> unseen_ranks(const View& view);

// Setting up a communicator has a line for its beginning and one for its end.
bool began_and_never_finished(const Member& member);

// Ranks were set up, and no line tells that they got anything done: each may stand in its first
// call.
bool not_seen_at_work(const View& view);

// PyTorch said that its Flight Recorder records, and dumps when a rank times out.
bool dumps_are_written(const View& view);

// Logs and dumps of ranks that are not there, or not whole.
std::vector<MissingEvidence> ask_for_ranks(const View& view, const Diagnosis& diagnosis,
                                           const std::vector<Finding>& unexplained);

// Where processes stand, as they tell themselves while they live.
std::vector<MissingEvidence> ask_for_processes(const View& view,
                                               const std::vector<Finding>& unexplained);

}  // namespace faultline
