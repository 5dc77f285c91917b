// What the NVSwitches of the job's hosts reported, by the catalog. The word Fatal or Non-fatal in
// the line is the switch's own view; it does not say what happens to the job.
#pragma once

#include <vector>

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_sxids(const View& view);

}  // namespace faultline
