// What is missing that would have decided the matter.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "model/finding.h"
#include "rules/picture/view.h"

namespace faultline {

// Members that belong to a communicator nobody could name, and are compared with no one.
std::size_t uncompared_members(const View& view);

// Sources whose end is missing, where that keeps ranks from being compared.
std::vector<std::string> broken_off_sources(const View& view);

// The most deciding first. `unexplained`: root causes of which nothing says why they came about.
// `borne_out`: ids of those that lines of several kinds tell.
std::vector<MissingEvidence> missing_evidence_of(const View& view, const Diagnosis& diagnosis,
                                                 std::vector<Finding> unexplained,
                                                 const std::set<std::string>& borne_out);

}  // namespace faultline
