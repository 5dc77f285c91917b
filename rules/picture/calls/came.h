// Ranks that are behind by their NCCL log, but not by PyTorch's own count: the log is cut off.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "rules/picture/view.h"

namespace faultline {

class CameByTorch {
 public:
  explicit CameByTorch(const View& view);

  // Whether PyTorch counts, in a group with the same ranks as the communicator, at least as many
  // calls for the ranks behind as for their peers, and no such group says otherwise. Or the peers
  // timed out in a later call than the one after those of the ranks behind: all earlier ones ended.
  bool all_came(const View& view, const Alignment& alignment) const;

 private:
  std::optional<std::uint64_t> stuck_in_;  // the number of the call in which the whole job is stuck
  std::size_t ranks_ = 0;                  // of the whole job
  std::map<std::string, std::map<int, std::int64_t>> enqueued_;  // by group and rank
};

}  // namespace faultline
