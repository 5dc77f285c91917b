// Every rank entered the same operation and none finished it. Only logs with DONE lines can tell.
#pragma once

#include <string>
#include <vector>

#include "rules/detect/detector.h"

namespace faultline {

// Ranks that entered a call of a communicator which does not end; the last lines of some are shown.
Suspicion stall_of(const View& view, const std::vector<std::size_t>& members,
                   const std::string& communicator, std::string title, Sureness sure);

std::vector<Suspicion> find_stalled_collectives(const View& view);

}  // namespace faultline
