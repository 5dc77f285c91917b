// Ranks that are behind by their NCCL log, and by PyTorch's own count are not: the log is cut off.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "rules/picture/view.h"

namespace faultline {

class CameByTorch {
 public:
  explicit CameByTorch(const View& view);

  // Whether a group of the same ranks as the communicator says that those behind have enqueued no
  // less than their peers, and none says otherwise.
  bool all_came(const View& view, const Alignment& alignment) const;

 private:
  std::map<std::string, std::map<int, std::int64_t>> enqueued_;  // by group and rank
};

}  // namespace faultline
