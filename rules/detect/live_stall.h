// Stalls that only time shows, in a job that is being watched: a communicator on which nobody calls
// any more, a rank or a host that sends nothing while others write.
#pragma once

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_live_stalls(const View& view);

}  // namespace faultline
