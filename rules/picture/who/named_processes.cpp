#include "rules/picture/who/named_processes.h"

#include <utility>

#include "rules/picture/who/owner.h"
#include "rules/picture/who/source_attempts.h"

namespace faultline {
namespace {

bool may_be_one(const NamedProcess& a, const NamedProcess& b) {
  const bool hosts_differ = !a.host.empty() && !b.host.empty() && a.host != b.host;
  const bool ranks_differ = !a.ranks.empty() && !b.ranks.empty() && a.ranks != b.ranks;
  return !hosts_differ && !ranks_differ;
}

}  // namespace

NamedProcesses::NamedProcesses(const View& view, HostsByPid wanted) : hosts_(std::move(wanted)) {
  if (hosts_.empty()) return;
  const SourceAttempts attempts(view);
  for (const ProcessSeen& seen : view.job.processes().all()) {
    if (!view.in_attempt(seen.process)) continue;
    std::vector<int> ranks;
    for (const std::size_t worker : view.workers.of_process(seen.process))
      if (view.workers.all[worker].rank >= 0) ranks.push_back(view.workers.all[worker].rank);
    if (ranks.empty() && seen.launcher_rank >= 0) ranks = {seen.launcher_rank};
    add(seen.process.pid, {.host = view.job.host_of(seen.host, seen.source),
                           .ranks = std::move(ranks),
                           .line = &seen.first});
  }
  for (const auto& [key, labelled] : view.job.processes().labelled())
    if (attempts.in_attempt(labelled.last))
      add(labelled.pid,
          {.host = labelled.host,
           .ranks = labelled.rank < 0 ? std::vector<int>() : std::vector{labelled.rank},
           .line = &labelled.last});
  for (const TorchLine<ProcessExit>& exit : view.job.torch().exits())
    if (attempts.in_attempt(exit.line))
      add(exit.fact.pid, {.host = view.job.host_of(short_host(exit.fact.host), exit.line.source),
                          .ranks = exit.fact.ranks,
                          .line = &exit.line,
                          .ended = true});
}

// A container numbers its processes itself, from 1.
void NamedProcesses::add(std::int64_t pid, NamedProcess process) {
  if (!is_counted_by_host(pid) || !hosts_.contains(pid)) return;
  const auto [known, is_new] = by_pid_.try_emplace(pid, process);
  if (is_new || !known->second) return;
  NamedProcess& before = *known->second;
  if (!may_be_one(before, process)) {
    known->second.reset();
    return;
  }
  if (before.host.empty()) before.host = std::move(process.host);
  before.ended |= process.ended;
  if (!before.ranks.empty() || process.ranks.empty()) return;
  before.ranks = std::move(process.ranks);
  before.line = process.line;
}

const NamedProcess* NamedProcesses::find(const std::string& host, std::int64_t pid) const {
  const auto known = by_pid_.find(pid);
  if (known == by_pid_.end() || !known->second) return nullptr;
  const NamedProcess& process = *known->second;
  if (!process.host.empty() && !host.empty() && process.host != host) return nullptr;
  // Kernels of several hosts may name the same pid.
  const bool is_told_by_one = hosts_.at(pid).size() == 1;
  return is_told_by_one || (!process.host.empty() && !host.empty()) ? &process : nullptr;
}

}  // namespace faultline
