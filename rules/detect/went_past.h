// Whether a rank that seems to be one call behind has in truth gone on without that call. If all
// calls of a communicator are alike, only the rank's calls on other communicators show that.
#pragma once

#include <cstddef>
#include <set>

#include "rules/detect/detector.h"

namespace faultline {

// Workers (indices) that took another path than their peers: they went past a call, or called
// something else. Whatever they wait for now, they began it.
std::set<std::size_t> workers_on_other_paths(const View& view);

// Whether a line of one of the member's earlier calls may be missing from its log: NCCL's own count
// does not confirm each of them.
bool may_lack_a_line(const Member& member);

// Whether the member seems to be late here, but kept in step with its peers in later calls on
// another communicator. Then it did not stop: it left out one call, or its log lacks a line.
bool went_on_with_its_peers(const View& view, const Alignment& alignment, std::size_t member);

// Finds software.collective_skipped if the calls of a communicator are alike.
std::vector<Suspicion> find_skipped_collectives(const View& view);

}  // namespace faultline
