// What this process takes of its machine, for /metrics.
#pragma once

#include <cstdint>

namespace faultline {

struct ProcessUse {
  double cpu_seconds = 0;
  std::uint64_t resident_bytes = 0;
  std::uint64_t virtual_bytes = 0;
  std::uint64_t open_fds = 0;
  std::uint64_t most_fds = 0;
};

// 0 where the system does not tell.
ProcessUse process_use();

}  // namespace faultline
