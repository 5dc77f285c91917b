// Hosts that rebooted while the job ran on them, without a shutdown.
#pragma once

#include "rules/knowledge/suspicion.h"
#include "rules/picture/read/kernel_sightings.h"

namespace faultline {

std::vector<Suspicion> find_reboots(const View& view, const KernelSightings& sightings);

}  // namespace faultline
