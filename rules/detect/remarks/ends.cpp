#include "rules/detect/remarks/ends.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "rules/detect/remarks/connections.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/subjects.h"
#include "rules/state/addresses.h"

namespace faultline {
namespace {

constexpr std::size_t kLeastForMostly = 4;  // connections
constexpr std::size_t kMostRanksNamed = 8;
constexpr std::size_t kMostGroups = 6;  // of one class; the rest becomes one group

using EndReports = std::vector<Report>;
using Pair = std::pair<std::string, std::string>;

SightingList sightings_in(const EndReports& reports) {
  SightingList all;
  for (const Report& report : reports) all.push_back(report.sighting);
  return all;
}

std::set<Pair> pairs_in(const EndReports& reports) {
  std::set<Pair> pairs;
  for (const Report& report : reports)
    if (!report.far.name.empty()) pairs.insert(std::minmax(report.near.name, report.far.name));
  return pairs;
}

// The end that most pairs have in common, and how many have it. The name is empty if several ends
// share the first place.
std::pair<std::string, std::size_t> most_common_end(const std::set<Pair>& pairs) {
  std::map<std::string, std::size_t> counts;
  for (const auto& [a, b] : pairs) {
    ++counts[a];
    if (a != b) ++counts[b];
  }
  std::pair<std::string, std::size_t> most;
  for (const auto& [name, count] : counts) {
    if (count > most.second)
      most = {name, count};
    else if (count == most.second)
      most.first.clear();
  }
  return most;
}

bool is_host(const EndReports& reports, const std::string& name) {
  return std::ranges::any_of(reports, [&](const Report& report) {
    return (report.near.name == name && report.near.is_host) ||
           (report.far.name == name && report.far.is_host);
  });
}

// The NICs of this end, over all reports.
std::vector<std::string> nics_at(const EndReports& reports, const std::string& name) {
  std::set<std::string> nics;
  for (const Report& report : reports)
    for (const End* end : {&report.near, &report.far})
      if (end->name == name && !end->nic.empty()) nics.insert(end->nic);
  return {nics.begin(), nics.end()};
}

EndReports reported_by(const EndReports& reports, const std::string& name) {
  EndReports own;
  std::ranges::copy_if(reports, std::back_inserter(own),
                       [&](const Report& report) { return report.near.name == name; });
  return own;
}

std::set<std::string> reporters(const EndReports& reports) {
  std::set<std::string> names;
  for (const Report& report : reports) names.insert(report.near.name);
  return names;
}

std::string far_name(const Report& report) {
  const std::string_view address = report.sighting->field("peer");
  return report.far.is_host ? report.far.name : std::string(address.substr(0, address.find('<')));
}

// Names the other end if the title does not.
std::string peer_clause(const std::string& title, const Report& report) {
  const std::string name = far_name(report);
  return name.empty() || title.find(name) != std::string::npos
             ? std::string()
             : fmt::format("; the other end is {}", name);
}

void name_end(Subject& subject, const EndReports& reports, const std::string& name) {
  Subject one;
  if (is_host(reports, name)) one.hosts = {name};
  one.nics = nics_at(reports, name);
  append(subject, one);
}

Suspicion suspicion_of_ends(const View& view, const EndReports& reports) {
  Suspicion suspicion = suspicion_of(view, sightings_in(reports));
  suspicion.finding.title = title_of(view, *reports.front().sighting, far_name(reports.front()));
  return suspicion;
}

// "rank 5 on node-0 reports", "4 processes of node-0 report".
std::string reported_from_one_end(const View& view, const EndReports& reports) {
  std::set<std::string> speakers;
  for (const Report& report : reports) speakers.insert(speaker_of(view, *report.sighting));
  if (speakers.size() == 1) return *speakers.begin() + " reports";
  return fmt::format("{} processes of {} report", speakers.size(), reports.front().near.name);
}

// One pair of hosts, or a host with itself.
Suspicion suspect_pair(const View& view, const EndReports& reports, const Pair& pair) {
  Suspicion suspicion = suspicion_of_ends(view, reports);
  Finding& finding = suspicion.finding;
  finding.subject = speakers_of(view, sightings_in(reports));
  name_end(finding.subject, reports, pair.first);
  name_end(finding.subject, reports, pair.second);
  tidy(finding.subject);
  suspicion.sure = {Claim::signature, reports.front().sighting->signature->confidence};
  suspicion.sure.add(Ground::one_of_two_ends);
  const Report& first = reports.front();
  if (pair.first == pair.second && first.far.is_host)
    finding.title += fmt::format("; both ends are on {}, as {}", pair.first,
                                 reported_from_one_end(view, reports));
  else if (reporters(reports).size() > 1)
    finding.title += fmt::format("; {} and {} both report it, and nothing shows which is at fault",
                                 pair.first, pair.second);
  else
    finding.title +=
        fmt::format("{}; only {} it, and nothing shows which end is at fault",
                    peer_clause(finding.title, first), reported_from_one_end(view, reports));
  return suspicion;
}

Suspicion suspect_common_end(const View& view, const EndReports& reports, const std::string& name,
                             std::size_t touching, std::size_t pairs) {
  Suspicion suspicion = suspicion_of_ends(view, reports);
  Finding& finding = suspicion.finding;
  finding.subject = speakers_of(view, sightings_in(reported_by(reports, name)));
  name_end(finding.subject, reports, name);
  tidy(finding.subject);
  // If several NICs of the host are ends, it is not one NIC that failed.
  if (finding.subject.nics.size() > 1) finding.subject.nics.clear();
  suspicion.sure = {Claim::signature, reports.front().sighting->signature->confidence};
  suspicion.sure.add(touching == pairs ? Ground::common_end : Ground::mostly_common_end);
  const std::string what = finding.subject.nics.size() == 1 ? finding.subject.nics.front() : name;
  finding.title +=
      touching == pairs
          ? fmt::format("; {} is an end of all {} failed connections", what, pairs)
          : fmt::format("; {} is an end of {} of {} failed connections", what, touching, pairs);
  return suspicion;
}

Suspicion suspect_all(const View& view, const EndReports& reports, std::size_t pairs) {
  Suspicion suspicion = suspicion_of_ends(view, reports);
  Finding& finding = suspicion.finding;
  finding.subject = speakers_of(view, sightings_in(reports));
  for (const Report& report : reports) {
    name_end(finding.subject, {report}, report.near.name);
    name_end(finding.subject, {report}, report.far.name);
  }
  tidy(finding.subject);
  suspicion.sure = {Claim::signature, reports.front().sighting->signature->confidence};
  suspicion.sure.add(Ground::many_ends);
  if (pairs > 1)
    finding.title +=
        fmt::format("; {} pairs of hosts report the same, and no host is in all of them", pairs);
  return suspicion;
}

// --- The far end is gone ------------------------------------------------------------------------

bool warned_or_aborted(const View& view, const Worker& worker) {
  const RemarkingProcess* process = view.job.remarks().find(worker.process);
  if (process == nullptr) return false;
  return process->endings.aborted ||
         std::ranges::any_of(process->said, [](const SaidRemark& said) { return said.warns(); });
}

// Ranks that waited in vain or failed, by PyTorch's lines.
std::set<int> ranks_that_torch_heard(const View& view) {
  std::set<int> ranks;
  for (const TorchRank* rank : view.job.torch().ranks())
    if (!rank->timeouts.empty() || !rank->said.empty()) ranks.insert(rank->rank);
  return ranks;
}

struct Accused {
  std::string name;
  std::set<std::string> by;
  std::vector<std::size_t> silent;  // workers of this host that say nothing themselves
  bool unheard = false;             // no line of any of its processes is known
};

std::vector<Accused> accused_in(const View& view, const EndReports& reports) {
  std::vector<Accused> accused;
  std::map<std::string_view, std::size_t> places;
  const std::set<std::string> heard = reporters(reports);
  for (const Report& report : reports) {
    if (report.far.name.empty()) continue;
    const auto [place, is_new] = places.try_emplace(report.far.name, accused.size());
    if (is_new) {
      Accused& one = accused.emplace_back(Accused{report.far.name, {}, {}, true});
      const auto there = view.workers.by_host.find(one.name);
      if (there != view.workers.by_host.end())
        for (const std::size_t worker : there->second)
          if (!warned_or_aborted(view, view.workers.all[worker])) one.silent.push_back(worker);
      one.unheard = there == view.workers.by_host.end() && !heard.contains(one.name);
    }
    accused[place->second].by.insert(report.near.name);
  }
  return accused;
}

void name_silent_workers(const View& view, const Accused& accused, Finding& finding) {
  std::vector<std::size_t> workers = accused.silent;
  if (std::ranges::any_of(workers, [&](std::size_t w) { return view.behind.contains(w); }))
    std::erase_if(workers, [&](std::size_t w) { return !view.behind.contains(w); });
  std::vector<int> ranks;
  for (std::size_t index : workers) {
    const Worker& worker = view.workers.all[index];
    if (worker.rank >= 0) ranks.push_back(worker.rank);
    if (!worker.gpu.empty() && workers.size() == 1)
      finding.subject.gpus = {gpu_name(worker.host, worker.gpu)};
  }
  finding.subject.ranks = ranks;
  if (ranks.size() == 1)
    finding.title += fmt::format("; rank {} on it reported nothing", ranks.front());
  else if (!ranks.empty() && ranks.size() <= kMostRanksNamed)
    finding.title += fmt::format("; ranks {} on it reported nothing", fmt::join(ranks, ", "));
}

Suspicion suspect_lost_host(const View& view, const EndReports& reports, const Accused& accused) {
  Suspicion suspicion = suspicion_of_ends(view, reports);
  Finding& finding = suspicion.finding;
  for (const Report& report : reports)  // the title is about this one
    if (report.far.name == accused.name) {
      finding.title = title_of(view, *report.sighting, far_name(report));
      finding.title += peer_clause(finding.title, report);
      break;
    }
  finding.subject = {};
  if (is_host(reports, accused.name)) finding.subject.hosts = {accused.name};
  name_silent_workers(view, accused, finding);
  if (accused.by.size() > 1) suspicion.sure.add(Ground::silent_and_accused);
  return suspicion;
}

// The only host whose ranks all stopped before their peers, without a word. A rank that waits for a
// broken connection has entered the call, and says so after a while.
const Accused* only_host_that_fell_silent(const View& view, const std::vector<Accused>& accused) {
  const std::set<int> heard = ranks_that_torch_heard(view);
  const auto has_gone = [&](std::size_t index) {
    return view.behind.contains(index) && !heard.contains(view.workers.all[index].rank);
  };
  const Accused* only = nullptr;
  for (const Accused& one : accused) {
    const auto on_it = view.workers.by_host.find(one.name);
    if (on_it == view.workers.by_host.end() || on_it->second.size() != one.silent.size()) continue;
    if (!std::ranges::all_of(one.silent, has_gone)) continue;
    if (only != nullptr) return nullptr;
    only = &one;
  }
  return only;
}

Suspicion suspect_either_end(const View& view, const EndReports& reports) {
  const std::set<Pair> pairs = pairs_in(reports);
  const std::vector<Accused> accused = accused_in(view, reports);
  if (const Accused* silent = only_host_that_fell_silent(view, accused);
      silent != nullptr && std::ranges::all_of(pairs, [&](const Pair& pair) {
        return pair.first == silent->name || pair.second == silent->name;
      }))
    return suspect_lost_host(view, reports, *silent);
  if (pairs.empty()) return suspect_all(view, reports, 0);
  if (pairs.size() == 1) return suspect_pair(view, reports, *pairs.begin());
  const auto [name, touching] = most_common_end(pairs);
  const bool mostly = pairs.size() >= kLeastForMostly && touching * 4 >= pairs.size() * 3;
  if (!name.empty() && !each_host_has(name) && (touching == pairs.size() || mostly))
    return suspect_common_end(view, reports, name, touching, pairs.size());
  return suspect_all(view, reports, pairs.size());
}

// Processes that report a closed connection live, so they did not close it first. The host that
// they name, and that is silent, did.
Suspicion suspect_far_end(const View& view, const EndReports& reports) {
  std::vector<Accused> accused = accused_in(view, reports);
  std::vector<Accused> silent;
  std::ranges::copy_if(accused, std::back_inserter(silent),
                       [](const Accused& a) { return a.unheard || !a.silent.empty(); });
  if (silent.size() == 1) return suspect_lost_host(view, reports, silent.front());
  if (silent.size() > 1) {
    std::ranges::stable_sort(silent, std::greater{}, [](const Accused& a) { return a.by.size(); });
    if (silent[0].by.size() > 1 && silent[0].by.size() > silent[1].by.size())
      return suspect_lost_host(view, reports, silent.front());
  }
  return suspect_either_end(view, reports);
}

// If no report has a known process (such as quotations of NCCL's last error), the finding only
// follows from whatever ended the peer.
Suspicion suspect_peer(const View& view, const EndReports& reports) {
  Suspicion suspicion = suspect_far_end(view, reports);
  if (std::ranges::all_of(reports, [](const Report& report) { return report.sighting->is_bare(); }))
    suspicion.sure.add(Ground::echo_by_its_words);
  return suspicion;
}

std::vector<EndReports> groups_in(const EndReports& reports) {
  std::vector<EndReports> groups = connected(reports);
  std::ranges::stable_sort(groups, std::greater{}, &EndReports::size);
  for (std::size_t i = kMostGroups; i < groups.size(); ++i)
    groups[kMostGroups - 1].insert(groups[kMostGroups - 1].end(), groups[i].begin(),
                                   groups[i].end());
  if (groups.size() > kMostGroups) groups.resize(kMostGroups);
  return groups;
}

}  // namespace

std::vector<Suspicion> suspect_ends(const View& view, const SightingList& causes,
                                    const std::vector<Sighting>& told) {
  std::map<Cause, SightingList> by_class;
  for (const Sighting* sighting : causes) by_class[sighting->signature->cause].push_back(sighting);
  std::vector<Suspicion> found;
  for (const auto& [cause, sightings] : by_class) {
    for (const EndReports& reports : groups_in(reports_of(view, sightings, told))) {
      const bool names_the_other = std::ranges::all_of(reports, [](const Report& report) {
        return report.sighting->signature->blames == Blames::peer;
      });
      found.push_back(names_the_other ? suspect_peer(view, reports)
                                      : suspect_either_end(view, reports));
    }
  }
  return found;
}

}  // namespace faultline
