// Whether a rank that seems to be one call behind has in truth gone on without that call. Where
// the calls of a communicator are all alike, only what the rank did on its other communicators
// tells.
#pragma once

#include <cstddef>
#include <optional>
#include <set>

#include "rules/detect/detector.h"

namespace faultline {

struct WentPast {
  bool this_call = false;        // it left out the one its peers wait in; false: an earlier one
  std::size_t other_member = 0;  // on which it went on: an index into Progress::members()
};

// `member` is behind in `alignment`. Nothing if it stopped there, or nothing tells.
std::optional<WentPast> went_past(const View& view, const Alignment& alignment, std::size_t member);

// Workers (indices) that took another path than their peers: they went past a call, or called
// something else. Whatever they wait for now, it began with them.
std::set<std::size_t> workers_on_other_paths(const View& view);

// software.collective_skipped, where calls are alike.
std::vector<Suspicion> find_skipped_collectives(const View& view);

}  // namespace faultline
