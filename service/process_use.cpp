#include "service/process_use.h"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>

namespace faultline {

ProcessUse process_use() {
  ProcessUse use;
  timespec cpu{};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu) == 0)
    use.cpu_seconds = static_cast<double>(cpu.tv_sec) + static_cast<double>(cpu.tv_nsec) / 1e9;
  std::ifstream statm("/proc/self/statm");
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  if (statm >> all >> resident) {
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    use.virtual_bytes = all * page;
    use.resident_bytes = resident * page;
  }
  statm.close();
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
