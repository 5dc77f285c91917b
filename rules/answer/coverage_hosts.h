// Which evidence to ask for from hosts, besides the logs of their ranks:
// rules/knowledge/catalog/evidence.yaml.
#pragma once

#include <string>
#include <vector>

#include "model/finding.h"
#include "rules/picture/view.h"

namespace faultline {

// Says how to upload what the command prints on these hosts, and the name of its file otherwise.
void make_sent(const View& view, std::string_view kind, const std::vector<std::string>& hosts,
               MissingEvidence& missing);

// Evidence that would show why ranks stopped: mostly, a host shows it.
std::vector<MissingEvidence> ask_why_it_stands(const View& view,
                                               const std::vector<Finding>& unexplained);

// If no line shows a fault, or how the job is doing: the evidence that was not looked at.
std::vector<MissingEvidence> ask_what_was_not_looked_at(const View& view, Verdict verdict);

// If lines of one kind reported the first cause: evidence of another kind that could confirm it.
std::vector<MissingEvidence> ask_for_second_witness(const View& view, const Finding& cause);

}  // namespace faultline
