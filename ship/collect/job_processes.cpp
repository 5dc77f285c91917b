#include "ship/collect/job_processes.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <utility>

#include "ship/log_holder.h"
#include "ship/small_file.h"

namespace faultline {
namespace {

// "4711 (python (x)) S 4700 …"
std::pair<char, int> state_and_parent(const std::string& proc, int id) {
  const std::string line = read_small_file(fmt::format("{}/{}/stat", proc, id));
  const std::size_t at = line.rfind(") ");
  if (at == std::string::npos || at + 4 >= line.size()) return {'X', 0};
  return {line[at + 2], std::atoi(line.c_str() + at + 4)};
}

using WrittenLogs = std::map<std::pair<std::uint64_t, std::uint64_t>, int>;

WrittenLogs written_logs(const LogsOfJob& logs) {
  WrittenLogs written;
  struct stat status{};
  for (const auto& [path, rank] : logs)
    if (stat(path.c_str(), &status) == 0)
      written.emplace(std::pair(status.st_dev, status.st_ino), rank);
  return written;
}

// It writes a log of the job, whatever its environment says of the job. A rank that this does not
// say is that of the log.
bool writes_one(const std::string& process, const WrittenLogs& logs, ProcessLabels& labels) {
  if (logs.empty()) return false;
  bool any = false;
  visit_written_files(process, [&](const FileId& file) {
    const auto found = logs.find({file.device, file.inode});
    if (found == logs.end()) return;
    any = true;
    if (labels.rank < 0) labels.rank = found->second;
  });
  return any;
}

bool is_alive(char state) { return state != 'Z' && state != 'X'; }

}  // namespace

char state_of_process(const std::string& proc, int id) { return state_and_parent(proc, id).first; }

std::vector<JobProcess> processes_of_job(const std::string& proc, const std::string& job,
                                         const std::set<int>& ranks, const LogsOfJob& logs) {
  const WrittenLogs written = written_logs(logs);
  std::map<int, JobProcess> all;
  for (const int id : process_ids(proc)) {
    if (id == getpid()) continue;
    Variables variables = variables_of(fmt::format("{}/{}", proc, id));
    ProcessLabels labels = labels_in(variables);
    if (labels.job != job && !writes_one(fmt::format("{}/{}", proc, id), written, labels)) continue;
    if (!ranks.empty() && !ranks.contains(labels.rank)) continue;
    const auto [state, parent] = state_and_parent(proc, id);
    struct stat owner{};
    if (!is_alive(state) || stat(fmt::format("{}/{}", proc, id).c_str(), &owner) != 0) continue;
    all[id] = {.id = id,
               .parent = parent,
               .rank = labels.rank,
               .state = state,
               .user = owner.st_uid,
               .group = owner.st_gid,
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

bool are_of_several_users(const std::vector<JobProcess>& processes) {
  std::set<unsigned> users;
  for (const JobProcess& process : processes)
    if (process.user != 0) users.insert(process.user);
  return users.size() > 1;
}

}  // namespace faultline
