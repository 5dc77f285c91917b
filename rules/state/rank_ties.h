// What others than NCCL tell of the ranks of a job. They are the ones that people know; NCCL's are
// places in a communicator, and the same only where one communicator holds the whole job.
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
  int at_least = 0;                             // so many ranks there are
  std::map<std::uint32_t, int> rank_of_source;  // where one rank alone speaks in it
};

// By PyTorch's labels and its dumps; where no label tells, by the names of files.
RankTies rank_ties(const Torch& torch, const Flight& flight, const Sources& sources);

// Ranks that files are named after: "nccl-debug-rank7.log". Empty where several files have one rank
// (then it is a place on each host) or where a label contradicts a name.
std::map<std::uint32_t, int> ranks_by_file_names(const Sources& sources,
                                                 const std::map<std::uint32_t, int>& by_labels);

// As workers_of() without them, where they do not say otherwise.
Workers workers_of(const Progress& progress, const std::vector<Communicator>& communicators,
                   const std::vector<std::size_t>& members, const RankTies& ties);

}  // namespace faultline
