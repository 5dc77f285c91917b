// Ranks that are behind, ranks that are ahead, and calls that all entered and none finished: makes
// findings of a witness's table of progress.
#pragma once

#include "rules/detect/detector.h"
#include "rules/picture/calls/progress_table.h"

namespace faultline {

std::vector<Suspicion> find_stalls_in(const View& view, const ProgressTable& table);

// For the witnesses that report nothing else: barriers, desync reports, Horovod, JAX, NCCL's RAS.
std::vector<Suspicion> find_stalls(const View& view);

}  // namespace faultline
