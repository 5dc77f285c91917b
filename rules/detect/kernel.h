// Faults that kernels of the job's hosts, and the programs that watch them, reported, by the
// signatures; and whether they mattered to the job.
#pragma once

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_kernel_faults(const View& view);

}  // namespace faultline
