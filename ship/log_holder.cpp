#include "ship/log_holder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace faultline {
namespace {

namespace fs = std::filesystem;

// The first that is set counts.
constexpr const char* kJobVariables[] = {"FAULTLINE_JOB", "SLURM_JOB_ID",       "SLURM_JOBID",
                                         "RAY_JOB_ID",    "PBS_JOBID",          "LSB_JOBID",
                                         "JOB_NAME",      "TORCHELASTIC_RUN_ID"};
// What torchrun says if nobody gave a name.
constexpr std::string_view kNoName = "none";

// Empty also if the process ends meanwhile.
std::string read_file(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

bool writes(const fs::path& process, const std::string& descriptor) {
  const std::string info = read_file(process / "fdinfo" / descriptor);
  const std::size_t at = info.find("flags:");
  if (at == std::string::npos) return false;
  const unsigned long flags = std::strtoul(info.c_str() + at + 6, nullptr, 8);
  return (flags & O_ACCMODE) != O_RDONLY;
}

std::map<std::string, std::string> environment_of(const fs::path& process) {
  std::map<std::string, std::string> variables;
  const std::string all = read_file(process / "environ");
  for (std::size_t at = 0; at < all.size();) {
    const std::string variable = all.substr(at, all.find('\0', at) - at);
    at += variable.size() + 1;
    const std::size_t equals = variable.find('=');
    if (equals != std::string::npos)
      variables.emplace(variable.substr(0, equals), variable.substr(equals + 1));
  }
  return variables;
}

// RANK is the rank of a process if its launcher also gave it LOCAL_RANK. Alone it may be the number
// of a pod whose launcher starts several; so may SLURM_PROCID.
int rank_of(const Environment& environment) {
  const std::string given = environment("FAULTLINE_RANK");
  const std::string of_torch = environment("LOCAL_RANK").empty() ? "" : environment("RANK");
  const std::string of_mpi = environment("OMPI_COMM_WORLD_RANK");
  if (given.empty() && !of_torch.empty() && !of_mpi.empty() && of_torch != of_mpi) return -1;
  const std::string& text = !given.empty() ? given : !of_torch.empty() ? of_torch : of_mpi;
  int rank = -1;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  return error == std::errc{} && stop == text.data() + text.size() && rank >= 0 ? rank : -1;
}

}  // namespace

ProcessLabels labels_of(const Environment& environment) {
  ProcessLabels labels;
  for (const char* name : kJobVariables) {
    labels.job = environment(name);
    if (labels.job == kNoName) labels.job.clear();
    if (!labels.job.empty()) break;
  }
  labels.rank = rank_of(environment);
  return labels;
}

std::string own_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

LogHolders::LogHolders(const std::string& proc) {
  std::error_code error;
  for (fs::directory_iterator process(proc, error), end; !error && process != end;
       process.increment(error)) {
    const std::string name = process->path().filename().string();
    if (std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; }))
      look_at(process->path().string());
  }
}

void LogHolders::look_at(const std::string& process) {
  std::optional<ProcessLabels> own;
  std::error_code error;
  for (fs::directory_iterator entry(fs::path(process) / "fd", error), end; !error && entry != end;
       entry.increment(error)) {
    struct stat status{};
    if (stat(entry->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
        !writes(process, entry->path().filename().string()))
      continue;
    if (!own) {
      const auto variables = environment_of(process);
      own = labels_of([&](const std::string& variable) {
        const auto found = variables.find(variable);
        return found == variables.end() ? std::string() : found->second;
      });
    }
    const auto [labels, is_first] = labels_.emplace(std::pair(status.st_dev, status.st_ino), *own);
    if (is_first) continue;
    if (labels->second.job != own->job) labels->second.job.clear();
    if (labels->second.rank != own->rank) labels->second.rank = -1;
  }
}

std::optional<ProcessLabels> LogHolders::of(const FileId& file) const {
  const auto found = labels_.find({file.device, file.inode});
  return found == labels_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace faultline
