#include "rules/detect/configuration/crew.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "rules/knowledge/ground_names.h"

namespace faultline {
namespace {

constexpr std::size_t kMostNamed = 4;

// The latest communicator that had this pointer.
const CommunicatorSetup* setup_of(const ProcessSetup& process, std::uint64_t pointer) {
  const auto& all = process.communicators;
  const auto found = std::find_if(all.rbegin(), all.rend(), [&](const CommunicatorSetup& c) {
    return c.communicator == pointer;
  });
  return found == all.rend() ? nullptr : &*found;
}

bool has_started(const Member& member) {
  const bool aborted = member.ending && *member.ending != CommunicatorEnding::destroyed;
  return (member.complete || member.calls > 0) && !aborted;
}

std::string listed(const std::vector<std::string>& names, std::string_view many) {
  if (names.size() > kMostNamed) return fmt::format("{} {}", names.size(), many);
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 < names.size() ? ", " : " and ";
    text += names[i];
  }
  return text;
}

std::set<int> ranks_of(const View& view, const Crew& crew, const Mates& mates) {
  std::set<int> ranks;
  for (std::size_t mate : mates)
    for (std::size_t worker : view.workers_in(crew.mates[mate].process->process))
      if (view.workers.all[worker].rank >= 0) ranks.insert(view.workers.all[worker].rank);
  return ranks;
}

bool are_whole_hosts(const Crew& crew, const Mates& mates) {
  std::set<std::string> hosts;
  std::size_t expected = 0;
  for (std::size_t mate : mates) {
    const std::string& host = crew.mates[mate].process->host;
    if (host.empty()) return false;
    if (hosts.insert(host).second) expected += crew.by_host.at(host).size();
  }
  return expected == mates.size();
}

}  // namespace

std::vector<Crew> crews_of(const View& view) {
  std::vector<const Communicator*> largest_first;
  for (const Communicator& communicator : view.communicators)
    if (communicator.nranks > 1) largest_first.push_back(&communicator);
  std::ranges::stable_sort(largest_first, std::ranges::greater{}, &Communicator::nranks);

  std::vector<Crew> crews;
  std::set<const ProcessSetup*> taken;
  for (const Communicator* communicator : largest_first) {
    std::map<ProcessKey, CrewMate> mates;
    bool overlaps = false;
    for (std::size_t index : communicator->members) {
      const Member& member = view.member(index);
      if (!view.in_attempt(member.process)) continue;
      const ProcessSetup* process = view.job.setup().find(member.process);
      if (process == nullptr) continue;
      overlaps |= taken.contains(process);
      mates[member.process] = {process, setup_of(*process, member.pointer), has_started(member)};
    }
    if (overlaps || mates.size() < 2) continue;
    Crew& crew = crews.emplace_back();
    crew.unheard = static_cast<std::size_t>(communicator->nranks) -
                   std::min(static_cast<std::size_t>(communicator->nranks), mates.size());
    for (const auto& entry : mates) {
      taken.insert(entry.second.process);
      crew.mates.push_back(entry.second);
    }
    for (std::size_t i = 0; i < crew.mates.size(); ++i)
      if (const std::string& host = crew.mates[i].process->host; !host.empty())
        crew.by_host[host].push_back(i);
    for (const auto& [host, on_host] : crew.by_host)
      crew.most_on_a_host = std::max(crew.most_on_a_host, on_host.size());
  }
  if (crews.empty()) return crews;
  const auto all = std::make_shared<ProcessesByHost>();
  for (const ProcessSetup& process : view.job.setup().processes())
    (*all)[process.host].push_back(&process);
  for (Crew& crew : crews) crew.all_processes = all;
  return crews;
}

bool tells_connections(const Crew& crew, const std::string& host) {
  const Mates& mates = crew.by_host.at(host);
  return mates.size() == crew.most_on_a_host && std::ranges::all_of(mates, [&](std::size_t i) {
           return std::ranges::any_of(crew.mates[i].process->communicators,
                                      [](const CommunicatorSetup& c) { return !c.links.empty(); });
         });
}

Division divide(const std::vector<Unit>& units, std::size_t unheard) {
  std::map<std::string, std::size_t> camps;
  for (const Unit& unit : units) ++camps[unit.said];
  Division division;
  if (camps.size() < 2) return division;
  const auto largest =
      std::ranges::max_element(camps, {}, [](const auto& camp) { return camp.second; });
  const std::size_t most = largest->second;
  division.reference = largest->first;
  const bool nearly_alike = 3 * (units.size() - most) >= units.size();
  division.everybody = 2 * most <= units.size() + (nearly_alike ? unheard : 0);
  for (const Unit& unit : units)
    if (division.everybody || unit.said != division.reference)
      division.odd.insert(division.odd.end(), unit.mates.begin(), unit.mates.end());
  std::ranges::sort(division.odd);
  const std::size_t others = units.size() - most;
  if (division.everybody)
    division.doubt = Ground::whole_job_divided;
  else if (4 * others > units.size())
    division.doubt = Ground::many_differ;
  return division;
}

Subject hosts_of(const Crew& crew, const Mates& mates) {
  std::set<std::string> hosts;
  for (std::size_t mate : mates)
    if (const std::string& host = crew.mates[mate].process->host; !host.empty()) hosts.insert(host);
  return {.hosts = {hosts.begin(), hosts.end()}};
}

Subject subject_of(const View& view, const Crew& crew, const Mates& mates) {
  Subject subject = hosts_of(crew, mates);
  const std::set<int> ranks = ranks_of(view, crew, mates);
  subject.ranks = {ranks.begin(), ranks.end()};
  return subject;
}

std::string people_of(const View& view, const Crew& crew, const Mates& mates) {
  const Subject hosts = hosts_of(crew, mates);
  if (are_whole_hosts(crew, mates)) return listed(hosts.hosts, "hosts");
  const std::set<int> ranks = ranks_of(view, crew, mates);
  if (ranks.empty()) return fmt::format("{} processes", mates.size());
  std::vector<std::string> names;
  for (int rank : ranks) names.push_back(std::to_string(rank));
  std::string text =
      names.size() > kMostNamed
          ? fmt::format("{} ranks", names.size())
          : fmt::format("rank{} {}", names.size() == 1 ? "" : "s", listed(names, "ranks"));
  if (hosts.hosts.size() == 1) text += " on " + hosts.hosts.front();
  return text;
}

void add_setting_line(const View& view, const Setup::Said* said, Suspicion& suspicion) {
  std::vector<Evidence>& evidence = suspicion.finding.evidence;
  if (said == nullptr || evidence.size() >= kMostLines ||
      !view.in_attempt(view.job.setup().processes()[said->process].process))
    return;
  if (evidence.empty()) suspicion.since = said->line.time;
  Evidence line = view.evidence(said->line);
  if (std::ranges::find(evidence, line) == evidence.end()) evidence.push_back(std::move(line));
}

Suspicion configuration_fault(Cause cause, Severity severity, Sureness sure) {
  Suspicion suspicion;
  suspicion.finding.cause = cause;
  suspicion.finding.severity = severity;
  suspicion.sure = std::move(sure);
  suspicion.verdict = severity == Severity::info ? Verdict::healthy : Verdict::slow;
  return suspicion;
}

}  // namespace faultline
