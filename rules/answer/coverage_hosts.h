// What is asked of hosts besides the logs of their ranks: rules/knowledge/catalog/evidence.yaml.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "model/finding.h"
#include "rules/picture/view.h"

namespace faultline {

// Hosts from which a process of the job was heard.
std::set<std::string> hosts_heard(const View& view);

// What its command prints on these hosts is sent, or called by its kind and its host.
void make_sent(const View& view, std::string_view kind, const std::vector<std::string>& hosts,
               MissingEvidence& missing);

// Why ranks stand at these hosts, or everybody does, is mostly told by a host.
std::vector<MissingEvidence> ask_why_it_stands(const View& view,
                                               const std::vector<Finding>& unexplained);

// Nothing is wrong as far as lines tell, or nothing tells how the job fares: what was not looked
// at.
std::vector<MissingEvidence> ask_what_was_not_looked_at(const View& view, Verdict verdict);

// The first cause was told by one kind of line, and another one would bear it out.
std::vector<MissingEvidence> ask_for_second_witness(const View& view, const Finding& cause);

}  // namespace faultline
