// The diagnosis: findings ordered into causes and consequences, and how sure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/finding.h"
#include "model/views.h"
#include "rules/knowledge/catalog.h"
#include "rules/picture/moment.h"
#include "rules/state/job_state.h"

namespace faultline {

// attempt: which start of the job, if it was started again; 0 for the latest.
Diagnosis diagnose(const JobState& job, const Catalog& catalog, const Moment& moment,
                   int attempt = 0);

// Everything the diagnosis found, causes first.
std::vector<Finding> findings_of(const Diagnosis& diagnosis);

// The ids of the root causes that are sure enough to be blamed.
std::set<std::string, std::less<>> blamed_in(const Diagnosis& diagnosis);

JobOverview overview_of(const JobState& job, const Diagnosis& diagnosis);
JobDetail detail_of(const JobState& job, const Diagnosis& diagnosis);
std::vector<RankView> ranks_of(const JobState& job, const Diagnosis& diagnosis);

}  // namespace faultline
