// What this process uses of its machine, for /metrics.
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

// A value is 0 if the system does not report it.
ProcessUse process_use();

}  // namespace faultline
