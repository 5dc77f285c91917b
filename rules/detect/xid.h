// What the GPU driver reported, by the catalog, and whether it touches the job.
#pragma once

#include <vector>

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_xids(const View& view);

}  // namespace faultline
