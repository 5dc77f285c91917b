// Which evidence to ask for from ranks: logs, dumps, stacks.
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

// Ranks of which no line was seen, if lines say how many ranks the job has.
std::vector<int> unseen_ranks(const View& view);

// The member began to set up its communicator, but no line shows that it finished.
bool began_and_never_finished(const Member& member);

// Ranks were set up, but no line shows that they got anything done: each may hang in its first
// call.
bool not_seen_at_work(const View& view);

// PyTorch said that its Flight Recorder records, and dumps when a rank times out.
bool dumps_are_written(const View& view);

// Asks for logs and dumps of ranks that are missing or not complete.
std::vector<MissingEvidence> ask_for_ranks(const View& view, const Diagnosis& diagnosis,
                                           const std::vector<Finding>& unexplained);

// Asks for what processes can show as long as they live: stacks, reports of ncclras.
std::vector<MissingEvidence> ask_for_processes(const View& view,
                                               const std::vector<Finding>& unexplained);

}  // namespace faultline
