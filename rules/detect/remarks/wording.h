// Makes findings of sightings: which parts they name, and in which words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/detect/detector.h"
#include "rules/knowledge/suspicion.h"
#include "rules/picture/read/remark_sightings.h"

namespace faultline {

using SightingList = std::vector<const Sighting*>;

// The signature's title with its placeholders filled in; words take the place of what is not known.
// `peer` takes the place of the address in the line.
std::string title_of(const View& view, const Sighting& sighting, std::string_view peer = {});

// "rank 5 on node-0", "process 4242 on node-0", "one process".
std::string speaker_of(const View& view, const Sighting& sighting);

// The ranks, hosts and GPUs that said these.
Subject speakers_of(const View& view, const SightingList& said);

// "node-0/mlx5_1:1" for the NIC that the line names; empty if it names none.
std::string nic_of(const View& view, const Sighting& sighting);

// A suspicion of the class of the first sighting's signature, with its title, how often it was
// said, its lines (the first of each process, at most a handful) and what to do.
Suspicion suspicion_of(const View& view, const SightingList& said);

}  // namespace faultline
