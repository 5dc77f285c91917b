#include "rules/detect/reported/absent.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "rules/knowledge/ground_names.h"
#include "rules/picture/who/reported_identity.h"

namespace faultline {
namespace {

// RAS has its own network, apart from the one that carries the data. A process that RAS cannot
// reach is most likely stopped or gone, or its host is.

constexpr std::string_view kRemote = "Remote process error";

struct Absent {
  ReportedPerson person;
  ReportedProcess process;
  bool forming = false;  // its communicator was being set up
  int nranks = 0;
};

using Absentees = std::map<std::string, Absent>;  // by key of the person

bool is_gone(const std::string& state) { return state == "dead" || state == "unresponsive"; }

void add(Absentees& absentees, Absent absent) {
  auto [known, is_new] = absentees.try_emplace(absent.person.key, absent);
  if (is_new) return;
  // The largest communicator identifies the process best.
  if (known->second.person.rank < 0 || known->second.nranks < absent.nranks) {
    const bool dead = known->second.process.state == "dead";
    known->second = std::move(absent);
    if (dead) known->second.process.state = "dead";
  }
}

// NCCL 2.24 and 2.25 list missing ranks without their processes, and missing processes without
// their ranks. If there is one of each, they are the same. nullptr: there is none, or several.
Absent* only_one_without_process(Absentees& absentees) {
  Absent* only = nullptr;
  for (auto& [key, absent] : absentees) {
    if (absent.process.pid != 0) continue;
    if (only != nullptr) return nullptr;
    only = &absent;
  }
  return only;
}

Absentees absentees_in(const ReportedPeople& people, const JobReport& report) {
  Absentees absentees;
  for (const auto& [id, communicator] : report.communicators) {
    const bool forming = communicator.status == "INIT";
    for (const auto& [number, rank] : communicator.ranks) {
      const std::string& state = rank.process.state;
      // A process that answers but does not have this communicator has left it, unless the
      // communicator is still being set up.
      if (!is_gone(state) && !(forming && state == "missing")) continue;
      add(absentees, {people.of(id, number, communicator.nranks, rank.process), rank.process,
                      forming, communicator.nranks});
    }
  }
  std::multimap<std::pair<std::int64_t, std::string>, Absent*> by_process;
  for (auto& [key, absent] : absentees)
    by_process.emplace(std::pair{absent.process.pid, absent.process.host}, &absent);
  std::set<std::pair<std::int64_t, std::string>> dead;
  std::vector<const ReportedProcess*> unnamed;
  for (const ReportedProcess& process : report.processes) {
    if (!is_gone(process.state)) continue;
    const std::pair which{process.pid, process.host};
    const auto [first, last] = by_process.equal_range(which);
    if (first == last) unnamed.push_back(&process);
    if (process.state != "dead" || !dead.insert(which).second) continue;
    for (auto named = first; named != last; ++named) named->second->process.state = "dead";
  }
  if (unnamed.size() == 1)
    if (Absent* absent = only_one_without_process(absentees)) {
      absent->process = *unnamed.front();
      absent->person = people.of(absent->person.communicator, absent->person.rank_in_communicator,
                                 absent->nranks, absent->process);
      return absentees;
    }
  for (const ReportedProcess* process : unnamed)
    add(absentees, {people.of("", -1, 0, *process), *process, false, 0});
  return absentees;
}

// A slow connection is no finding by itself, but a peer that RAS gave up is one.
void add_monitored(const View& view, const ReportedPeople& people, Absentees& absentees) {
  for (const auto& [key, process] : view.job.reports().monitored())
    if (process.state == "dead") add(absentees, {people.of("", -1, 0, process), process, false, 0});
}

// The ranks of one host with the same state: a host that is gone takes all its ranks along.
using AlikeAbsent = std::vector<const Absent*>;

std::vector<AlikeAbsent> groups_of(const Absentees& absentees) {
  std::map<std::tuple<std::string, std::string, std::string>, AlikeAbsent> groups;
  std::vector<AlikeAbsent> found;
  for (const auto& [key, absent] : absentees) {
    const std::string& host = absent.person.host;
    groups[{host.empty() ? key : host, absent.process.state,
            absent.forming ? absent.person.communicator : std::string()}]
        .push_back(&absent);
  }
  for (auto& [key, group] : groups) found.push_back(std::move(group));
  return found;
}

std::string title_of_absent(const AlikeAbsent& group, const std::vector<ReportedPerson>& people) {
  const Absent& any = *group.front();
  std::string who = names_of(people);
  if (people.size() > 1 && !any.person.host.empty()) who += " on " + any.person.host;
  if (any.forming)
    return any.process.state == "missing"
               ? fmt::format(
                     "{} never began to set up communicator {} of {} ranks, although {}", who,
                     any.person.communicator, any.nranks,
                     people.size() > 1 ? "their RAS threads answer" : "its RAS thread answers")
               : fmt::format("{} never joined communicator {} of {} ranks", who,
                             any.person.communicator, any.nranks);
  return any.process.state == "dead"
             ? fmt::format("{}: out of reach and considered dead by NCCL's RAS network", who)
             : fmt::format("{} did not answer ncclras", who);
}

Suspicion describe_absent(const View& view, const AlikeAbsent& group) {
  const Absent& any = *group.front();
  const Claim claim = any.forming                   ? Claim::report_never_joined
                      : any.process.state == "dead" ? Claim::report_dead
                                                    : Claim::report_unresponsive;
  std::vector<ReportedPerson> people;
  Suspicion suspicion = hang(any.forming ? Cause::launch_rank_missing : Cause::process_silent,
                             claim, any.process.line.time);
  Finding& finding = suspicion.finding;
  for (const Absent* absent : group) {
    people.push_back(absent->person);
    if (absent->process.line.known() && finding.evidence.size() < kMostLines)
      finding.evidence.push_back(view.evidence(absent->process.line));
  }
  finding.title = title_of_absent(group, people);
  finding.subject = subject_of_people(people);
  return suspicion;
}

}  // namespace

std::vector<Suspicion> find_reported_absent(const View& view) {
  const Reports& reports = view.job.reports();
  if (reports.latest() == nullptr && reports.monitored().empty()) return {};
  const ReportedPeople people(view);
  Absentees absentees;
  if (const JobReport* report = reports.latest()) absentees = absentees_in(people, *report);
  add_monitored(view, people, absentees);
  std::vector<Suspicion> found;
  for (const AlikeAbsent& group : groups_of(absentees))
    found.push_back(describe_absent(view, group));

  // If most are gone, the job has ended or RAS's own network is cut: no process stands out.
  const std::size_t all =
      std::max(static_cast<std::size_t>(people.world()), reports.monitored().size());
  if (absentees.size() > 1 && absentees.size() * 2 > all)
    for (Suspicion& suspicion : found) {
      suspicion.verdict = Verdict::healthy;
      suspicion.finding.severity = Severity::info;
    }
  return found;
}

std::vector<Suspicion> find_reported_errors(const View& view) {
  const JobReport* report = view.job.reports().latest();
  if (report == nullptr) return {};
  const ReportedPeople known(view);
  struct Erring {
    ReportedPerson person;
    const ReportedRank* rank = nullptr;
  };
  std::map<std::string, Erring> own;
  std::map<std::string, Erring> remote;
  for (const auto& [id, communicator] : report->communicators)
    for (const auto& [number, rank] : communicator.ranks) {
      if (rank.error.empty()) continue;
      ReportedPerson person = known.of(id, number, communicator.nranks, rank.process);
      auto& those = rank.error == kRemote ? remote : own;
      std::string key = person.key;
      those.try_emplace(std::move(key), Erring{std::move(person), &rank});
    }
  // A remote process error comes from a peer. It counts only if no rank has an error of its own.
  const auto& erring = own.empty() ? remote : own;
  if (erring.empty()) return {};
  std::vector<ReportedPerson> people;
  Suspicion suspicion;
  Finding& finding = suspicion.finding;
  for (const auto& [key, each] : erring) {
    people.push_back(each.person);
    if (finding.evidence.size() < kMostLines)
      finding.evidence.push_back(view.evidence(each.rank->error_line));
  }
  suspicion.stops_job = true;
  suspicion.verdict = Verdict::failed;
  suspicion.since = erring.begin()->second.rank->error_line.time;
  finding.cause = Cause::nccl_error;
  finding.title = fmt::format("{} reported to ncclras: {}", names_of(people),
                              erring.begin()->second.rank->error);
  finding.severity = Severity::error;
  suspicion.sure = own.empty() ? Claim::report_remote_error : Claim::report_own_error;
  finding.subject = subject_of_people(people);
  return {std::move(suspicion)};
}

}  // namespace faultline
