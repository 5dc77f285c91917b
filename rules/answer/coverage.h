// Which missing evidence would decide the diagnosis.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "model/finding.h"
#include "rules/picture/view.h"

namespace faultline {

// How many members are compared with no other, because their communicator is unknown.
std::size_t uncompared_members(const View& view);

// Sources that broke off, if that keeps ranks from being compared.
std::vector<std::string> broken_off_sources(const View& view);

// The most decisive first. `unexplained`: root causes for which no line says why they came about.
// `borne_out`: ids of findings that lines of several kinds report.
std::vector<MissingEvidence> missing_evidence_of(const View& view, const Diagnosis& diagnosis,
                                                 std::vector<Finding> unexplained,
                                                 const std::set<std::string>& borne_out);

}  // namespace faultline
