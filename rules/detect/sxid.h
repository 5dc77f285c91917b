// What the NVSwitches of the job's hosts reported, by the catalog. The word in the line, Fatal or
// Non-fatal, is the switch's own view and not what becomes of the job.
#pragma once

#include <vector>

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_sxids(const View& view);

}  // namespace faultline
