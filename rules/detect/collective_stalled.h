// Every rank entered the same operation and none finished it. Only logs with DONE lines show that.
#pragma once

#include <string>
#include <vector>

#include "rules/detect/detector.h"

namespace faultline {

// Ranks that entered a call that does not end, with the last lines of a few of them.
Suspicion stall_of(const View& view, const std::vector<std::size_t>& members,
                   const std::string& communicator, std::string title, Sureness sure);

// Doubts about the positions of ranks, by how they were found.
void add_doubts_of_place(const View& view, const Alignment& alignment, Sureness& sure);

std::vector<Suspicion> find_stalled_collectives(const View& view);

}  // namespace faultline
