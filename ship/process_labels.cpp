#include "ship/process_labels.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "model/utf8.h"
#include "ship/small_file.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

// The first that is set counts.
constexpr const char* kJobVariables[] = {"FAULTLINE_JOB", "SLURM_JOB_ID",       "SLURM_JOBID",
                                         "RAY_JOB_ID",    "PBS_JOBID",          "LSB_JOBID",
                                         "JOB_NAME",      "TORCHELASTIC_RUN_ID"};
// What torchrun says if nobody gave a name.
constexpr std::string_view kNoName = "none";
// More than the environment of a job has; whatever comes later does not count.
constexpr std::size_t kMostOfEnvironment = std::size_t{512} << 10;
constexpr std::size_t kLongestJob = 512;

// What a server takes as the name of a job. Any process can have any bytes in its environment.
bool is_name(std::string_view text) {
  if (text.empty() || text.size() > kLongestJob || text == kNoName) return false;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto first = static_cast<unsigned char>(text.front());
    if (length == 0 || first < 0x20 || first == 0x7f) return false;
    text.remove_prefix(length);
  }
  return true;
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
    if (!is_name(environment(name))) continue;
    labels.job = environment(name);
    break;
  }
  labels.rank = rank_of(environment);
  return labels;
}

std::string own_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

Variables variables_of(const std::string& process) {
  Variables variables;
  const std::string all = read_small_file(process + "/environ", kMostOfEnvironment);
  for (std::size_t at = 0; at < all.size();) {
    const std::string variable = all.substr(at, all.find('\0', at) - at);
    at += variable.size() + 1;
    const std::size_t equals = variable.find('=');
    if (equals != std::string::npos)
      variables.emplace(variable.substr(0, equals), variable.substr(equals + 1));
  }
  return variables;
}

ProcessLabels labels_in(const Variables& variables) {
  return labels_of([&](const std::string& variable) {
    const auto found = variables.find(variable);
    return found == variables.end() ? std::string() : found->second;
  });
}

std::vector<int> process_ids(const std::string& proc) {
  std::vector<int> ids;
  std::error_code error;
  for (fs::directory_iterator process(proc, error), end; !error && process != end;
       process.increment(error)) {
    const std::string name = process->path().filename().string();
    int id = 0;
    const auto [stop, wrong] = std::from_chars(name.data(), name.data() + name.size(), id);
    if (wrong == std::errc{} && stop == name.data() + name.size()) ids.push_back(id);
  }
  std::ranges::sort(ids);
  return ids;
}

}  // namespace faultline
