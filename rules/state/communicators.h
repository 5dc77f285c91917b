// Which members belong together. A pointer is valid only within its process, so the ranks of a
// communicator are found by what their Init lines share.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rules/state/progress.h"

namespace faultline {

struct Communicator {
  std::string id;  // its commId if NCCL prints one, else a name made from its size
  int nranks = 0;
  bool matched = true;  // false: only size, host or order suggest that these belong together
  std::vector<std::size_t> members;  // indices into Progress::members(), by rank where it is known

  // Whether this is the number of all its ranks.
  bool are_all(std::size_t count) const { return count == static_cast<std::size_t>(nranks); }
};

// The communicators of these members (indices into Progress::members(), ascending), in the order in
// which the first member of each was seen. A member that cannot be placed is left out.
std::vector<Communicator> communicators_of(const Progress& progress,
                                           const std::vector<std::size_t>& members);

}  // namespace faultline
