#include "ship/log_holder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace faultline {
namespace {

namespace fs = std::filesystem;

// The first that is set counts.
constexpr const char* kJobVariables[] = {"FAULTLINE_JOB", "SLURM_JOB_ID",       "SLURM_JOBID",
                                         "RAY_JOB_ID",    "PBS_JOBID",          "LSB_JOBID",
                                         "JOB_NAME",      "TORCHELASTIC_RUN_ID"};
constexpr const char* kRankVariables[] = {"FAULTLINE_RANK", "RANK", "SLURM_PROCID",
                                          "OMPI_COMM_WORLD_RANK", "PMI_RANK"};
// What torchrun says if nobody gave a name.
constexpr std::string_view kNoName = "none";

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool writes(const fs::path& process, const std::string& descriptor) {
  const std::string info = read_file(process / "fdinfo" / descriptor);
  const std::size_t at = info.find("flags:");
  if (at == std::string::npos) return false;
  const unsigned long flags = std::strtoul(info.c_str() + at + 6, nullptr, 8);
  return (flags & O_ACCMODE) != O_RDONLY;
}

bool holds(const fs::path& process, const FileId& file) {
  std::error_code error;
  for (fs::directory_iterator entry(process / "fd", error), end; !error && entry != end;
       entry.increment(error)) {
    struct stat status{};
    if (stat(entry->path().c_str(), &status) == 0 && status.st_dev == file.device &&
        status.st_ino == file.inode && writes(process, entry->path().filename().string()))
      return true;
  }
  return false;
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

}  // namespace

ProcessLabels labels_of(const Environment& environment) {
  ProcessLabels labels;
  for (const char* name : kJobVariables) {
    labels.job = environment(name);
    if (labels.job == kNoName) labels.job.clear();
    if (!labels.job.empty()) break;
  }
  for (const char* name : kRankVariables) {
    const std::string value = environment(name);
    int rank = -1;
    const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), rank);
    if (value.empty() || error != std::errc{} || stop != value.data() + value.size() || rank < 0)
      continue;
    labels.rank = rank;
    break;
  }
  return labels;
}

std::string own_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

std::optional<ProcessLabels> labels_of_holders(const FileId& file, const std::string& proc) {
  std::optional<ProcessLabels> labels;
  std::error_code error;
  for (fs::directory_iterator process(proc, error), end; !error && process != end;
       process.increment(error)) {
    const std::string name = process->path().filename().string();
    if (!std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; })) continue;
    if (!holds(process->path(), file)) continue;
    const auto variables = environment_of(process->path());
    const ProcessLabels own = labels_of([&](const std::string& variable) {
      const auto found = variables.find(variable);
      return found == variables.end() ? std::string() : found->second;
    });
    if (!labels) {
      labels = own;
      continue;
    }
    if (labels->job != own.job) labels->job.clear();
    if (labels->rank != own.rank) labels->rank = -1;
  }
  return labels;
}

}  // namespace faultline
