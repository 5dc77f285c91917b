#include "service/process_use.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

namespace faultline {
namespace {

struct MemoryPages {
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  std::uint64_t of_files = 0;  // that are resident
};

MemoryPages memory_pages() {
  MemoryPages pages;
  std::ifstream statm("/proc/self/statm");
  if (!(statm >> pages.all >> pages.resident >> pages.of_files)) return {};
  return pages;
}

std::uint64_t page_size() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }

std::uint64_t memory_of_machine(const std::filesystem::path& root) {
  std::ifstream file(root / "proc/meminfo");
  std::string name;
  std::uint64_t kib = 0;
  return file >> name >> kib && name == "MemTotal:" ? kib * 1024 : UINT64_MAX;
}

// The least of the limits of a control group and of those that it lies in. A container may see its
// own group as the root.
std::uint64_t least_limit(const std::filesystem::path& mount, std::filesystem::path group,
                          const char* name) {
  std::uint64_t least = UINT64_MAX;
  for (;; group = group.parent_path()) {
    std::ifstream file(mount / group / name);
    std::uint64_t limit = 0;
    if (file >> limit) least = std::min(least, limit);  // else it is "max", or there is no file
    if (group.empty()) return least;
  }
}

std::uint64_t limit_of_groups(const std::filesystem::path& root) {
  std::uint64_t least = UINT64_MAX;
  std::ifstream file(root / "proc/self/cgroup");
  // NUMBER:CONTROLLERS:/GROUP; of version 2, 0::/GROUP
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(":/", first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 2);
    if (controllers.empty())
      least = std::min(least, least_limit(root / "sys/fs/cgroup", group, "memory.max"));
    else if (controllers == "memory")
      least = std::min(least,
                       least_limit(root / "sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
  }
  return least;
}

}  // namespace

std::uint64_t own_memory() {
  const MemoryPages pages = memory_pages();
  return (pages.resident - pages.of_files) * page_size();
}

std::uint64_t allowed_memory(const std::filesystem::path& root) {
  std::uint64_t allowed = std::min(memory_of_machine(root), limit_of_groups(root));
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    allowed = std::min<std::uint64_t>(allowed, limit.rlim_cur);
  return allowed;
}

ProcessUse process_use() {
  ProcessUse use;
  timespec cpu{};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu) == 0)
    use.cpu_seconds = static_cast<double>(cpu.tv_sec) + static_cast<double>(cpu.tv_nsec) / 1e9;
  const MemoryPages pages = memory_pages();
  use.virtual_bytes = pages.all * page_size();
  use.resident_bytes = pages.resident * page_size();
  // The iterator holds one descriptor itself.
  std::error_code none;
  for (std::filesystem::directory_iterator fd("/proc/self/fd", none), end; !none && fd != end;
       fd.increment(none))
    ++use.open_fds;
  if (use.open_fds > 0) --use.open_fds;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) use.most_fds = limit.rlim_cur;
  return use;
}

}  // namespace faultline
