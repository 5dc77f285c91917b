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

// Whether a line of the member's calls, before its last ones, may be missing from its log: NCCL's
// own count does not tell of each.
bool may_lack_a_line(const Member& member);

// It seems to be late, but is in step with its peers in what they called afterwards elsewhere: it
// did not stop, so that it left out one call, or its log lacks one.
bool went_on_with_its_peers(const View& view, const Alignment& alignment, std::size_t member);

// software.collective_skipped, where calls are alike.
std::vector<Suspicion> find_skipped_collectives(const View& view);

}  // namespace faultline
