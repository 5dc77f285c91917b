#include "ship/collect/recorder_pipe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <string_view>
#include <system_error>

#include "ship/log_part.h"

namespace faultline {
namespace {

constexpr const char* kPipeVariable = "TORCH_NCCL_DEBUG_INFO_PIPE_FILE";

// Where this process sees it: it may be in a container.
std::string path_seen_by(const std::string& process, const std::string& path) {
  return process + (path.starts_with('/') ? "/root" : "/cwd/") + path;
}

// Why it could not be asked; empty: it was. The path comes from the job, so it must be a pipe of
// the user that the process belongs to.
std::string ask_recorder(const std::string& process, const std::string& path) {
  struct stat owner{};
  if (stat(process.c_str(), &owner) != 0) return "the process has ended";
  // To open a device may do something, so what is there is looked at first.
  const OpenDescriptor found(
      open(path_seen_by(process, path).c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!found.ok()) return std::generic_category().message(errno);
  struct stat status{};
  if (fstat(found.get(), &status) != 0 || !S_ISFIFO(status.st_mode)) return "is not a pipe";
  if (status.st_uid != owner.st_uid) return "belongs to another user";
  const OpenDescriptor pipe(open(fmt::format("/proc/self/fd/{}", found.get()).c_str(),
                                 O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  if (!pipe.ok() && errno == ENXIO) return "nobody reads it";
  if (!pipe.ok()) return std::generic_category().message(errno);
  constexpr std::string_view kAnything = "1\n";
  const bool written = write(pipe.get(), kAnything.data(), kAnything.size()) ==
                       static_cast<ssize_t>(kAnything.size());
  return written ? "" : std::generic_category().message(errno);
}

}  // namespace

Gathered ask_flight_recorders(const std::vector<JobProcess>& processes, const std::string& proc) {
  Gathered gathered;
  std::set<std::string> paths;
  std::size_t asked = 0;
  for (const JobProcess& process : processes) {
    const auto prefix = process.variables.find(kPipeVariable);
    if (prefix == process.variables.end() || prefix->second.empty() || process.rank < 0) continue;
    const std::string path = fmt::format("{}{}.pipe", prefix->second, process.rank);
    // Workers of a process have its environment, too.
    if (!paths.insert(path).second) continue;
    const std::string wrong = ask_recorder(fmt::format("{}/{}", proc, process.id), path);
    if (wrong.empty()) ++asked;
    add_to_list(gathered.ran,
                fmt::format("rank {}: {}", process.rank,
                            wrong.empty() ? std::string("asked for its dump") : wrong));
  }
  if (paths.empty())
    gathered.failure = fmt::format("no process of the job has a rank and {}", kPipeVariable);
  else if (asked == 0)
    gathered.failure = gathered.ran;
  return gathered;
}

}  // namespace faultline
