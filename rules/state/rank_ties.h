// What witnesses other than NCCL say about the job's ranks. Their ranks are the ones that people
// know. NCCL's are places in a communicator, the same only if one communicator holds the whole job.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "rules/state/flight.h"
#include "rules/state/sources.h"
#include "rules/state/torch.h"
#include "rules/state/workers.h"

namespace faultline {

struct RankTies {
  int at_least = 0;                             // the least number of ranks
  std::map<std::uint32_t, int> rank_of_source;  // sources with lines of only one rank
};

// By PyTorch's labels and dumps; without a label, by the names of files.
RankTies rank_ties(const Torch& torch, const Flight& flight, const Sources& sources);

// Ranks in the names of files: "nccl-debug-rank7.log". Empty if several files have the same rank
// (then it counts within a host), or if a label contradicts a name.
std::map<std::uint32_t, int> ranks_by_file_names(const Sources& sources,
                                                 const std::map<std::uint32_t, int>& by_labels);

// Like workers_of() without ties, but with the ranks that the ties give.
Workers workers_of(const Progress& progress, const std::vector<Communicator>& communicators,
                   const std::vector<std::size_t>& members, const RankTies& ties);

}  // namespace faultline
