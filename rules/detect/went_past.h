// Whether a rank that seems to be one call behind has in truth gone on without that call. Where
// the calls of a communicator are all alike, only what the rank did on its other communicators
// tells.
#pragma once

#include <cstddef>
#include <set>

#include "rules/detect/detector.h"

namespace faultline {

// Workers (indices) that took another path than their peers: they went past a call, or called
// something else. Whatever they wait for now, it began with them.
std::set<std::size_t> workers_on_other_paths(const View& view);

// software.collective_skipped, where calls are alike.
std::vector<Suspicion> find_skipped_collectives(const View& view);

}  // namespace faultline
