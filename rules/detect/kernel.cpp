#include "rules/detect/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "rules/detect/kernel/judgement.h"
#include "rules/detect/kernel/reboots.h"
#include "rules/detect/past_offences.h"
#include "rules/detect/placed.h"
#include "rules/detect/remarks/wording.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/subjects.h"
#include "rules/picture/calls/wait_graph.h"
#include "rules/picture/read/kernel_stacks.h"
#include "rules/picture/who/owner.h"

namespace faultline {
namespace {

// A line that only follows belongs to a cause of the same log and class within this time.
constexpr std::int64_t kTogetherUs = 120'000'000;

// The name of its machine; if no line gives one, the source stands for it.
std::string machine_of(const KernelSighting& sighting) {
  return sighting.host.empty() ? fmt::format("#{}", sighting.log->source) : sighting.host;
}

// Storage that did not answer, and came back.
class StorageOutages {
 public:
  explicit StorageOutages(const std::vector<KernelSighting>& all) {
    for (const KernelSighting& sighting : all)
      if (sighting.signature->cause == Cause::host_storage_stall && sighting.recovery != nullptr &&
          sighting.first != nullptr)
        of_log_[sighting.log].emplace_back(sighting.first->order, sighting.recovery->order);
    for (auto& [log, outages] : of_log_) {
      std::ranges::sort(outages);
      for (std::size_t i = 1; i < outages.size(); ++i)
        outages[i].second = std::max(outages[i].second, outages[i - 1].second);
    }
  }

  // Whether a hung task only waited for it.
  bool held_up(const KernelSighting& sighting) const {
    if (sighting.signature->cause != Cause::host_cpu_hang) return false;
    const auto known = of_log_.find(sighting.log);
    if (known == of_log_.end()) return false;
    const auto next =
        std::ranges::lower_bound(known->second, std::pair{sighting.first->order, std::uint64_t{0}});
    return next != known->second.begin() && sighting.last->order < std::prev(next)->second;
  }

 private:
  // When it began, and when the last of those so far came back; by the begin.
  using Outages = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  std::map<const KernelLog*, Outages> of_log_;
};

// The logs and classes for which a line gives the reason that a notice leaves open.
class Reasons {
 public:
  explicit Reasons(const KernelSightings& sightings) {
    for (const KernelSighting& sighting : sightings.all)
      if (!is_echo(sighting.signature->weight))
        told_.emplace(sighting.log, sighting.signature->cause);
  }

  // A notice is a cause if no line gives its reason.
  bool is_cause(const KernelSighting& sighting) const {
    const Weight weight = sighting.signature->weight;
    return weight == Weight::cause ||
           (weight == Weight::notice && !told_.contains({sighting.log, sighting.signature->cause}));
  }

 private:
  std::set<std::pair<const KernelLog*, Cause>> told_;
};

std::vector<KernelGroup> groups_of(const View& view, const KernelSightings& sightings) {
  std::map<std::string, std::size_t> known;
  std::vector<KernelGroup> groups;
  const Reasons reasons(sightings);
  const StorageOutages outages(sightings.all);
  KernelParts parts(view, sightings);
  for (const KernelSighting& sighting : sightings.all) {
    if (!reasons.is_cause(sighting) || !sighting.counts() || outages.held_up(sighting)) continue;
    KernelPart part = parts.of(sighting);
    std::string key =
        fmt::format("{}\n{}\n{}", sighting.signature->cause, machine_of(sighting), part.key);
    const auto [at, is_new] = known.try_emplace(std::move(key), groups.size());
    if (is_new) groups.push_back({.part = std::move(part)});
    groups[at->second].causes.push_back(&sighting);
  }
  return groups;
}

// Whether NCCL reported that the network failed.
bool network_failed(const View& view) {
  for (const RemarkingProcess& process : view.job.remarks().processes())
    for (const SaidRemark& said : process.said) {
      if (!said.warns() || !view.in_attempt(process.process)) continue;
      const auto match = view.catalog.signatures->match(said.remark);
      if (match && is_of(match->signature->cause, Family::network) &&
          match->signature->weight != Weight::harmless)
        return true;
    }
  return false;
}

// Whether the group is one process that a kernel names and no line ties to a rank.
bool is_of_nobody(const KernelGroup& group, ProcessOwners& owners) {
  const KernelSighting& sighting = *group.causes.front();
  const std::int64_t pid = sighting.pid();
  return sighting.signature->blames == Blames::process &&
         group.part.standing == KernelPart::Standing::perhaps && group.part.subject.ranks.empty() &&
         std::ranges::all_of(group.causes,
                             [&](const KernelSighting* other) { return other->pid() == pid; }) &&
         owners.of(sighting.host, {pid}) == Owner::unknown;
}

// A container numbers its processes itself, so the kernel's PID is that of no rank. If exactly one
// rank of this host is waited for and waits for nobody, the process is taken for that rank.
void tie_to_who_stopped(const View& view, std::vector<KernelGroup>& groups) {
  ProcessOwners owners(view);
  if (std::ranges::none_of(groups, [&](const KernelGroup& g) { return is_of_nobody(g, owners); }))
    return;
  std::map<std::string, std::vector<std::size_t>> stopped;  // by host
  for (const WaitEnd& end : ends_of_waits(view, view.p2p_gaps()))
    if (end.workers.size() == 1)
      stopped[view.workers.all[*end.workers.begin()].host].push_back(*end.workers.begin());
  for (KernelGroup& group : groups) {
    if (!is_of_nobody(group, owners)) continue;
    const auto of_host = stopped.find(group.causes.front()->host);
    if (of_host == stopped.end() || of_host->second.size() != 1) continue;
    const int rank = view.workers.all[of_host->second.front()].rank;
    if (rank >= 0) group.part.subject.ranks = {rank};
  }
}

// The kernel crashed in the driver of a NIC that had just failed. Whether the job uses the NIC does
// not matter any more: it uses the host.
void tie_to_failed_nics(std::vector<KernelGroup>& groups) {
  const auto crashed = [](const KernelGroup& group) {
    return group.causes.front()->signature->cause == Cause::host_down &&
           group.with_stack() != nullptr;
  };
  if (std::ranges::none_of(groups, crashed)) return;
  std::map<const KernelLog*, std::vector<std::pair<const KernelSighting*, KernelGroup*>>> of_log;
  for (KernelGroup& group : groups)
    for (const KernelSighting* cause : group.causes) of_log[cause->log].emplace_back(cause, &group);
  for (KernelGroup& group : groups) {
    if (!crashed(group)) continue;
    const KernelSighting& crash = *group.with_stack();
    std::set<KernelGroup*> failed;
    for (const auto& [sighting, nic] : of_log[crash.log])
      if (is_failure_of_driver(*sighting, crash)) failed.insert(nic);
    if (failed.size() != 1) continue;  // the stack does not say which of them
    KernelGroup& nic = **failed.begin();
    group.in_driver_of_failed_nic = true;
    append(group.part.subject, {.nics = nic.part.subject.nics});
    tidy(group.part.subject);
    std::erase(nic.part.doubts, Ground::use_unknown);
  }
}

void tell_of_the_network(const View& view, const KernelSightings& sightings,
                         std::vector<KernelGroup>& groups) {
  const bool asked = std::ranges::any_of(sightings.all, [](const KernelSighting& sighting) {
    return sighting.recovery != nullptr && is_of(sighting.signature->cause, Family::network);
  });
  if (!asked || !network_failed(view)) return;
  for (KernelGroup& group : groups) group.network_failed = true;
}

bool near(const KernelSighting& echo, const KernelSighting& cause) {
  if (echo.log != cause.log || echo.signature->cause != cause.signature->cause) return false;
  const auto passed = microseconds_between(cause.first->line.time, echo.first->line.time);
  return passed && *passed > -kTogetherUs && *passed < kTogetherUs;
}

void add_echoes(const KernelSightings& sightings, std::vector<KernelGroup>& groups) {
  std::map<std::pair<const KernelLog*, Cause>, std::vector<KernelGroup*>> by_log;
  for (KernelGroup& group : groups)
    for (const KernelSighting* cause : group.causes) {
      std::vector<KernelGroup*>& there = by_log[{cause->log, cause->signature->cause}];
      if (there.empty() || there.back() != &group) there.push_back(&group);
    }
  for (const KernelSighting& sighting : sightings.all) {
    if (!is_echo(sighting.signature->weight) || !sighting.counts()) continue;
    const auto there = by_log.find({sighting.log, sighting.signature->cause});
    if (there == by_log.end()) continue;
    for (KernelGroup* group : there->second)
      if (std::ranges::any_of(group->causes,
                              [&](const KernelSighting* c) { return near(sighting, *c); }))
        group->echoes.push_back(&sighting);
  }
}

// If many parts have the same fault, the surest is described, and the others are named with it.
std::vector<Suspicion> joined_alike(const Grounds& grounds, std::vector<Suspicion> all) {
  std::map<std::tuple<Cause, bool, Verdict>, std::vector<Suspicion>> alike;
  for (Suspicion& suspicion : all) {
    const Finding& finding = suspicion.finding;
    alike[{finding.cause, finding.part_of_job, suspicion.verdict}].push_back(std::move(suspicion));
  }
  std::vector<Suspicion> found;
  for (auto& [key, same] : alike) {
    if (same.size() <= kMostAlike) {
      std::ranges::move(same, std::back_inserter(found));
      continue;
    }
    const auto surest = std::ranges::max_element(
        same, {}, [&](const Suspicion& s) { return grounds.log_odds(s.sure); });
    Suspicion one = *surest;
    one.finding.title += fmt::format(", and {} others like it", same.size() - 1);
    one.finding.count = 0;
    for (const Suspicion& other : same) {
      append(one.finding.subject, other.finding.subject);
      one.finding.count += other.finding.count;
      one.needs_effect &= other.needs_effect;
      if (order_of(other.since, one.since, true) == Order::before) one.since = other.since;
    }
    tidy(one.finding.subject);
    found.push_back(std::move(one));
  }
  return found;
}

}  // namespace

std::vector<Suspicion> find_kernel_faults(const View& view) {
  const KernelSightings sightings = kernel_sightings_of(view);
  std::vector<KernelGroup> groups = groups_of(view, sightings);
  add_echoes(sightings, groups);
  tell_of_the_network(view, sightings, groups);
  tie_to_who_stopped(view, groups);
  tie_to_failed_nics(groups);
  std::vector<Suspicion> found;
  for (const KernelGroup& group : groups)
    if (auto suspicion = judge(view, group)) found.push_back(std::move(*suspicion));
  std::ranges::move(find_reboots(view, sightings), std::back_inserter(found));
  spare_what_was_outlived(view, found);
  tell_past_offences(view, found);
  return joined_alike(view.catalog.grounds, std::move(found));
}

}  // namespace faultline
