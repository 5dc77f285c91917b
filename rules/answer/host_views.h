// Every host of a job, with what its kernel and tools reported.
#pragma once

#include "model/host_views.h"
#include "rules/knowledge/catalog.h"
#include "rules/state/job_state.h"

namespace faultline {

// Includes hosts of which only the name is known.
HostViews hosts_of(const JobState& job, const Catalog& catalog);

}  // namespace faultline
