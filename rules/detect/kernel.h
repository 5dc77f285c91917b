// What the kernels of the job's hosts and the programs that look after them told, by the
// signatures, and whether it mattered to the job.
#pragma once

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_kernel_faults(const View& view);

}  // namespace faultline
