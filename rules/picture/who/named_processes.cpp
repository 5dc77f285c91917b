#include "rules/picture/who/named_processes.h"

#include <algorithm>

#include "rules/picture/when/one_moment.h"
#include "rules/picture/who/owner.h"
#include "rules/picture/who/source_attempts.h"

namespace faultline {
namespace {

bool may_be_one(const NamedProcess& a, const NamedProcess& b) {
  const bool hosts_differ = !a.host.empty() && !b.host.empty() && a.host != b.host;
  const bool ranks_differ = !a.ranks.empty() && !b.ranks.empty() && a.ranks != b.ranks;
  return !hosts_differ && !ranks_differ;
}

// The machines of which the job has kernel lines. A log that names no host is a machine of its own.
std::size_t count_kernels(const View& view) {
  std::set<std::pair<std::string, std::uint32_t>> machines;
  const auto add = [&](const std::string& spoken_host, std::uint32_t source) {
    std::string host = view.job.host_of(spoken_host, source);
    const bool is_unnamed = host.empty();
    machines.emplace(std::move(host), is_unnamed ? source : 0);
  };
  for (const XidIncident& incident : view.job.hardware().xids())
    add(incident.spoken_host, incident.source);
  for (const KernelLog& log : view.job.kernel_lines().logs()) add(log.spoken_host, log.source);
  return machines.size();
}

bool ended_well(const ProcessExit& exit) { return exit.exit_code == 0 && !exit.signal; }

// Pids are used again, so lines that are not of one time are about one process only if they are in
// one log.
bool may_be_of_one_time(const NamedProcess& process, const KernelMention& mention) {
  if (!process.last.wall_us || !mention.last.wall_us) return process.line->source == mention.source;
  const bool is_within = *process.first.wall_us <= *mention.last.wall_us &&
                         *mention.first.wall_us <= *process.last.wall_us;
  return is_within || may_be_one_moment(mention.last, process.first) ||
         may_be_one_moment(mention.first, process.last);
}

}  // namespace

NamedProcesses::NamedProcesses(const View& view) : view_(view), kernels_(count_kernels(view)) {
  if (kernels_ == 0) return;
  const SourceAttempts attempts(view);
  for (const auto& [key, labelled] : view.job.processes().labelled())
    if (is_counted_by_host(labelled.pid) && attempts.in_attempt(labelled.last))
      add(labelled.pid,
          {.host = view.job.host_of(labelled.host, labelled.last.source),
           .ranks = labelled.rank < 0 ? std::vector<int>() : std::vector{labelled.rank},
           .line = &labelled.last,
           .first = view.job.dated(labelled.first),
           .last = view.job.dated(labelled.last)});
  for (const TorchLine<ProcessExit>& exit : view.job.torch().exits()) {
    if (!is_counted_by_host(exit.fact.pid) || ended_well(exit.fact) ||
        !attempts.in_attempt(exit.line))
      continue;
    const EventTime when = view.job.dated(exit.line);
    add(exit.fact.pid, {.host = view.job.host_of(short_host(exit.fact.host), exit.line.source),
                        .ranks = exit.fact.ranks,
                        .line = &exit.line,
                        .first = when,
                        .last = when,
                        .ended = true});
  }
}

void NamedProcesses::add(std::int64_t pid, NamedProcess process) {
  const auto [known, is_new] = by_pid_.try_emplace(pid, process);
  if (is_new || !known->second) return;
  NamedProcess& before = *known->second;
  if (!may_be_one(before, process)) {
    known->second.reset();
    return;
  }
  if (before.host.empty()) before.host = std::move(process.host);
  before.ended |= process.ended;
  if (process.first.wall_us && before.first.wall_us) {
    if (*process.first.wall_us < *before.first.wall_us) before.first = process.first;
    if (*process.last.wall_us > *before.last.wall_us) before.last = process.last;
  } else if (process.first.wall_us) {
    before.first = process.first;
    before.last = process.last;
  }
  if (!before.ranks.empty() || process.ranks.empty()) return;
  before.ranks = std::move(process.ranks);
  before.line = process.line;
}

// If one of the hosts is not known, only the kernel of one machine may be there. NCCL may say that
// the rank runs elsewhere.
bool NamedProcesses::may_be_on(const NamedProcess& process, const std::string& host) const {
  const bool is_open = process.host.empty() || host.empty();
  if (is_open ? kernels_ > 1 : process.host != host) return false;
  return std::ranges::none_of(process.ranks, [&](int rank) {
    return std::ranges::any_of(view_.workers.of_rank(rank), [&](std::size_t index) {
      const std::string& of_rank = view_.workers.all[index].host;
      return !of_rank.empty() && !host.empty() && of_rank != host;
    });
  });
}

const NamedProcess* NamedProcesses::find(const KernelMention& mention) const {
  const auto known = by_pid_.find(mention.pid);
  if (known == by_pid_.end() || !known->second) return nullptr;
  const NamedProcess& process = *known->second;
  return may_be_on(process, mention.host) && may_be_of_one_time(process, mention) ? &process
                                                                                  : nullptr;
}

}  // namespace faultline
