// What this process uses of its machine, for /metrics.
#pragma once

#include <cstdint>
#include <filesystem>

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

// Memory of this process that the system can only take away by ending it: not that of files.
std::uint64_t own_memory();

// How much memory this process may take at most: what the machine has, or less if its control group
// or its limit of address space says so. `root`: where the files of the system are.
std::uint64_t allowed_memory(const std::filesystem::path& root = "/");

}  // namespace faultline
