// Every host of a job, with what kernels and tools told of it there.
#pragma once

#include "model/host_views.h"
#include "rules/knowledge/catalog.h"
#include "rules/state/job_state.h"

namespace faultline {

// Hosts of which nothing but their name is known are in it, too.
HostViews hosts_of(const JobState& job, const Catalog& catalog);

}  // namespace faultline
