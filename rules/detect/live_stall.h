// What shows in a job that is being watched, with time and not with lines: a communicator in which
// nobody calls any more, a rank or a host from which nothing comes while others write.
#pragma once

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_live_stalls(const View& view);

}  // namespace faultline
