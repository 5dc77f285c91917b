// What a diagnosis says besides its findings: coverage, what to switch on next time, the timeline,
// which hosts to leave out.
#pragma once

#include <vector>

#include "model/finding.h"
#include "rules/picture/view.h"

namespace faultline {

std::vector<HostCoverage> coverage_of(const View& view);

// The few settings that would have decided what the diagnosis leaves open.
std::vector<NextTime> next_time_of(const View& view, const Diagnosis& diagnosis);

// Of all findings, corrected by diagnosis.clock_offsets.
std::vector<TimelineEntry> timeline_of(const Diagnosis& diagnosis);

Exclusion exclusion_of(const Catalog& catalog, const std::vector<Finding>& root_causes);

}  // namespace faultline
