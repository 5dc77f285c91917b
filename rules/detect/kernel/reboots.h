// Hosts that started anew while the job ran on them, without having been taken down.
#pragma once

#include "rules/knowledge/suspicion.h"
#include "rules/picture/read/kernel_sightings.h"

namespace faultline {

std::vector<Suspicion> find_reboots(const View& view, const KernelSightings& sightings);

}  // namespace faultline
