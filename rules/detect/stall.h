// Who is behind, who is ahead, and where all entered and nothing ends: one way from a witness's
// table of progress to findings.
#pragma once

#include "rules/detect/detector.h"
#include "rules/picture/calls/progress_table.h"

namespace faultline {

std::vector<Suspicion> find_stalls_in(const View& view, const ProgressTable& table);

// By the witnesses that tell nothing else: barriers, desync reports, Horovod, JAX, NCCL's RAS.
std::vector<Suspicion> find_stalls(const View& view);

}  // namespace faultline
