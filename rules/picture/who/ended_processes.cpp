#include "rules/picture/who/ended_processes.h"

#include <algorithm>
#include <cstdlib>

#include "rules/picture/who/owner.h"

namespace faultline {
namespace {

// An out-of-memory kill is a SIGKILL, and a program fault that the kernel reports ends in a fault
// signal. Nothing else that the kernel reports about a process ends it.
bool fits(Cause cause, int signal) {
  constexpr int kKill = 9;
  constexpr int kFaults[] = {4, 5, 7, 8, 11};
  if (cause == Cause::host_oom_killed) return signal == kKill;
  return cause == Cause::software_rank_crashed &&
         std::ranges::find(kFaults, signal) != std::ranges::end(kFaults);
}

// Launchers check every few seconds, and print their tables when all processes have ended. If only
// one stamp has a zone, the other may be in any.
bool may_be_one_moment(const EventTime& kernels, const EventTime& launchers) {
  constexpr std::int64_t kLongestUs = std::int64_t{10} * 60 * 1'000'000;
  constexpr std::int64_t kZonesUs = std::int64_t{14} * 3600 * 1'000'000;
  if (!kernels.wall_us || !launchers.wall_us) return true;
  const std::int64_t apart = std::abs(*launchers.wall_us - *kernels.wall_us);
  return apart <= kLongestUs + (kernels.zone_assumed == launchers.zone_assumed ? 0 : kZonesUs);
}

}  // namespace

EndedProcesses::EndedProcesses(const View& view, const std::vector<KernelSighting>& sightings)
    : view_(view) {
  for (const TorchLine<ProcessExit>& exit : view.job.torch().exits()) {
    const ProcessExit& end = exit.fact;
    if (!is_counted_by_host(end.pid) || !end.signal || end.told_to) continue;
    const auto [known, is_new] = by_pid_.try_emplace(end.pid, &exit);
    if (is_new || known->second == nullptr || end.ranks.empty()) continue;
    const std::vector<int>& ranks = known->second->fact.ranks;
    known->second = ranks.empty() || ranks == end.ranks ? &exit : nullptr;  // the table says more
  }
  if (by_pid_.empty()) return;
  for (const KernelSighting& sighting : sightings)
    if (const std::int64_t pid = sighting.pid(); by_pid_.contains(pid))
      told_in_[pid].insert(sighting.log);
}

const TorchLine<ProcessExit>* EndedProcesses::end_told_by(const KernelSighting& sighting) const {
  const std::int64_t pid = sighting.pid();
  const auto known = by_pid_.find(pid);
  if (known == by_pid_.end() || known->second == nullptr || !sighting.counts()) return nullptr;
  const auto logs = told_in_.find(pid);
  if (logs == told_in_.end() || logs->second.size() != 1) return nullptr;
  const LineRef& line = known->second->line;
  const ProcessExit& end = known->second->fact;
  if (!fits(sighting.signature->cause, *end.signal)) return nullptr;
  const std::string there = view_.job.host_of(short_host(end.host), line.source);
  if (!sighting.host.empty() && !there.empty() && sighting.host != there) return nullptr;
  if (!may_be_one_moment(view_.job.dated(sighting.first->line), view_.job.dated(line)))
    return nullptr;
  return known->second;
}

}  // namespace faultline
