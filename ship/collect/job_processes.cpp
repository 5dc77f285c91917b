#include "ship/collect/job_processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "ship/log_part.h"

namespace faultline {
namespace {

// "4711 (python (x)) S 4700 …"
std::pair<char, int> state_and_parent(const std::string& proc, int id) {
  const std::string line = read_small_file(fmt::format("{}/{}/stat", proc, id));
  const std::size_t at = line.rfind(") ");
  if (at == std::string::npos || at + 4 >= line.size()) return {'X', 0};
  return {line[at + 2], std::atoi(line.c_str() + at + 4)};
}

bool is_alive(char state) { return state != 'Z' && state != 'X'; }

}  // namespace

std::string read_small_file(const std::string& path, std::size_t most) {
  const OpenDescriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  std::string text;
  while (file.ok() && text.size() < most) {
    char block[4096];
    const ssize_t count = read(file.get(), block, std::min(sizeof block, most - text.size()));
    if (count <= 0) break;
    text.append(block, static_cast<std::size_t>(count));
  }
  return text;
}

char state_of_process(const std::string& proc, int id) { return state_and_parent(proc, id).first; }

std::vector<JobProcess> processes_of_job(const std::string& proc, const std::string& job,
                                         const std::set<int>& ranks) {
  std::map<int, JobProcess> all;
  for (const int id : process_ids(proc)) {
    if (id == getpid()) continue;
    Variables variables = variables_of(fmt::format("{}/{}", proc, id));
    const ProcessLabels labels = labels_in(variables);
    if (labels.job != job || (!ranks.empty() && !ranks.contains(labels.rank))) continue;
    const auto [state, parent] = state_and_parent(proc, id);
    if (is_alive(state))
      all[id] = {.id = id,
                 .parent = parent,
                 .rank = labels.rank,
                 .state = state,
                 .variables = std::move(variables)};
  }
  const auto place = [&](const JobProcess& process) {
    if (process.rank < 0) return 2;
    const auto parent = all.find(process.parent);
    return parent != all.end() && parent->second.rank == process.rank ? 1 : 0;
  };
  std::vector<std::pair<int, int>> order;
  for (const auto& [id, process] : all) order.emplace_back(place(process), id);
  std::ranges::sort(order);
  std::vector<JobProcess> processes;
  for (const auto& [where, id] : order) processes.push_back(std::move(all[id]));
  return processes;
}

std::set<std::string> jobs_with_ranks(const std::string& proc) {
  std::set<std::string> jobs;
  for (const int id : process_ids(proc)) {
    const ProcessLabels labels = labels_in(variables_of(fmt::format("{}/{}", proc, id)));
    if (!labels.job.empty() && labels.rank >= 0) jobs.insert(labels.job);
  }
  return jobs;
}

}  // namespace faultline
