// What a scheduler reports about jobs and nodes: why it ended a job, and which nodes it lost.
// conditions.yaml says what its words mean; which job and node they are about is worked out here.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

#include "rules/detect/parts/facts.h"
#include "rules/detect/parts/scheduler_jobs.h"
#include "rules/detect/placed.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/prose.h"
#include "rules/picture/who/host_list.h"

namespace faultline {
namespace {

constexpr std::size_t kMostNodes = 65536;  // in all lists together

using Hits = std::vector<ConditionHit>;

// --- Nodes -------------------------------------------------------------------------------------

struct Node {
  Hits hits;  // conditions that its latest words meet: the most telling one first
  std::string booted;
  const LineRef* boot_line = nullptr;

  bool is_gone() const {
    return !hits.empty() && hits.front().condition->finding == Cause::host_down &&
           hits.front().condition->impact == Verdict::failed;
  }
};

using Nodes = std::map<std::string, Node>;

bool is_later(const LineRef& a, const LineRef& b) {
  const Order order = order_of(a.time, b.time, true);
  if (order != Order::cannot_tell || a.source != b.source) return order == Order::after;
  return a.line > b.line;
}

// A tool may name a node in several lists: the latest counts.
Nodes nodes_in(const PartFacts& facts) {
  struct Listed {
    const PartRecord* record = nullptr;
    const HostList* list = nullptr;
    Hits hits;
  };
  static const HostList kUnnamed{.hosts = {""}};  // a node that no line names
  HostLists lists;
  std::size_t nodes_left = kMostNodes;
  std::vector<Listed> all;
  std::set<std::pair<std::string, std::string>> telling;  // tools and fields that meet a condition
  for (const PartRecord& record : facts.parts().records()) {
    if (record.kind != "nodes") continue;
    Listed& listed = all.emplace_back(
        Listed{&record, &lists.of(record.name("nodes")), conditions_met(facts, record)});
    if (listed.list->hosts.empty() || listed.list->hosts.size() > nodes_left)
      listed.list = &kUnnamed;
    nodes_left -= std::min(nodes_left, listed.list->hosts.size());
    for (const ConditionHit& hit : listed.hits)
      telling.emplace(record.tool, normalised_field(hit.field));
  }
  struct Word {
    const LineRef* line = nullptr;
    const PartRecord* record = nullptr;
  };
  std::map<std::tuple<std::string, std::string, std::string>, Word> latest;
  for (const Listed& listed : all)
    for (const PartSeries& series : listed.record->values) {
      const std::string field = normalised_field(facts.parts().text(series.name));
      if (!telling.contains({listed.record->tool, field})) continue;
      const LineRef* line = series.last().line.get();
      for (const std::string& host : listed.list->hosts) {
        Word& word = latest[{host, listed.record->tool, field}];
        if (word.line == nullptr || is_later(*line, *word.line)) word = {line, listed.record};
      }
    }
  Nodes nodes;
  for (const Listed& listed : all) {
    const std::string booted = value_in(facts, *listed.record, {"boottime"});
    for (const std::string& host : listed.list->hosts) {
      Node& node = nodes[host];
      if (is_scheduler_stamp(booted) && booted > node.booted) {
        node.booted = booted;
        node.boot_line = listed.record->last.get();
      }
      for (const ConditionHit& hit : listed.hits)
        if (latest[{host, listed.record->tool, normalised_field(hit.field)}].record ==
            listed.record)
          node.hits.push_back(hit);
    }
  }
  for (auto& [host, node] : nodes)
    std::ranges::stable_sort(node.hits, {}, [](const ConditionHit& hit) { return hit.condition; });
  return nodes;
}

std::set<std::string> gone_among(const Nodes& nodes) {
  std::set<std::string> gone;
  for (const auto& [host, node] : nodes)
    if (node.is_gone() && !host.empty()) gone.insert(host);
  return gone;
}

// --- Jobs --------------------------------------------------------------------------------------

std::string name_of(const PartRecord& record) {
  const std::string_view step = record.name("step");
  const std::string_view job = record.name("job");
  if (step.empty()) return fmt::format("job {}", job);
  if (step.front() >= '0' && step.front() <= '9') return fmt::format("step {}.{}", job, step);
  return fmt::format("the {} step of job {}", step, job);
}

// "1:0" is a code, "0:9" a signal; 125 is Slurm's own mark.
std::string exit_in_words(const std::string& text) {
  constexpr int kMarkOfSlurm = 125;
  const std::size_t colon = text.find(':');
  int code = 0;
  int signal = 0;
  std::from_chars(text.data(), text.data() + std::min(colon, text.size()), code);
  if (colon != text.npos)
    std::from_chars(text.data() + colon + 1, text.data() + text.size(), signal);
  if (signal != 0 && signal != kMarkOfSlurm) return fmt::format(": signal {}", signal);
  return code != 0 ? fmt::format(": exit code {}", code) : std::string();
}

// --- Both together -----------------------------------------------------------------------------

void lay_on_nodes(const PartFacts& facts, const std::vector<std::string>& hosts, Room& room,
                  Suspicion& suspicion) {
  if (!room.take(hosts.size())) return;
  std::size_t ranks = 0;
  for (const std::string& host : hosts) ranks += facts.view.workers.on(host).size();
  if (!room.take(ranks)) return;
  Owners owners(facts.view, suspicion.finding.subject);
  for (const std::string& host : hosts) owners.add(owner_of_host(facts.view, host), host);
  owners.done();
}

Suspicion describe_ending(const PartFacts& facts, const ScheduledJobs& jobs,
                          const ScheduledJob& job, const Nodes& nodes,
                          const std::vector<std::string>& lost, Room& room) {
  Hits hits{*job.ending};
  const PartRecord& record = *job.ending->record;
  const std::string at = job.only_node().value_or("");
  Suspicion suspicion = suspicion_of(facts, hits, {.part = name_of(record), .host = at, .gpu = {}});
  Finding& finding = suspicion.finding;
  for (const ConditionHit& hit : job.as_well)
    add_line(facts.view, hit.series->last().line.get(), finding);
  if (finding.cause == Cause::process_aborted)
    finding.title += exit_in_words(value_in(facts, record, {"exitcode"}));
  begin_with_a_capital(finding.title);
  suspicion.stops_job = is(finding.cause, Trait::symptom);
  if (finding.cause != Cause::host_down) {
    if (!at.empty()) lay_on_nodes(facts, {at}, room, suspicion);
  } else if (lost.empty()) {
    suspicion.sure.add(Ground::one_of_several_hosts);
  } else {
    finding.title += fmt::format(": {}", some_hosts(lost));
    lay_on_nodes(facts, lost, room, suspicion);
    for (const std::string& host : lost)
      if (const auto node = nodes.find(host); node != nodes.end())
        for (const ConditionHit& hit : node->second.hits)
          add_line(facts.view, hit.series->last().line.get(), finding);
    if (!job.all_nodes_are_known()) suspicion.sure.add(Ground::nodes_of_job_unknown);
  }
  if (jobs.ran_elsewhere(job)) {
    finding.part_of_job = false;
    finding.title += "; no rank was seen on its nodes";
  } else if (!facts.view.hosts.empty() && !job.all_nodes_are_known()) {
    suspicion.sure.add(Ground::nodes_of_job_unknown);
  }
  return suspicion;
}

void suspect_reboots(const PartFacts& facts, const Nodes& nodes, const ScheduledJobs& jobs,
                     std::set<std::string>& told, Room& room, Suspicions& found) {
  for (const auto& [host, node] : nodes) {
    if (host.empty() || node.booted.empty() || told.contains(host)) continue;
    const ScheduledJob* job = jobs.running_at(host, node.booted);
    if (job == nullptr) continue;
    told.insert(host);
    Suspicion& suspicion = found.emplace_back();
    Finding& finding = suspicion.finding;
    finding.cause = Cause::host_down;
    finding.severity = Severity::critical;
    finding.title = fmt::format("{} rebooted at {}, during job {}", host, node.booted, job->name);
    suspicion.sure = Claim::host_started_anew;
    if (!job->all_nodes_are_known()) suspicion.sure.add(Ground::nodes_of_job_unknown);
    add_line(facts.view, node.boot_line, finding);
    lay_on_nodes(facts, {host}, room, suspicion);
  }
}

// Hosts of the pods that Kubernetes was asked about: the job's.
std::set<std::string> hosts_of_pods(const PartFacts& facts) {
  std::set<std::string> hosts;
  for (const PartRecord& record : facts.parts().records())
    if (record.kind == "pod" && !record.spoken_host.empty())
      hosts.insert(short_host(record.spoken_host));
  return hosts;
}

// How a node stands to the job that is asked about.
enum class Standing { of_the_job, elsewhere, unknown };

Standing standing_of(const PartFacts& facts, const std::string& host,
                     const std::set<std::string>& of_pods, const ScheduledJobs& jobs) {
  if (!facts.view.hosts.empty())
    return owner_of_host(facts.view, host).owner == Owner::host ? Standing::of_the_job
                                                                : Standing::elsewhere;
  if (of_pods.contains(host)) return Standing::of_the_job;
  if (jobs.any_ended_on(host)) return Standing::of_the_job;
  return jobs.show_where_any_ran() ? Standing::elsewhere : Standing::unknown;
}

Suspicion describe_nodes(const PartFacts& facts, const std::vector<std::string>& hosts,
                         const std::string& names, const Hits& hits, Standing standing,
                         Room& room) {
  Suspicion suspicion = suspicion_of(facts, hits, {.part = {}, .host = names, .gpu = {}});
  suspicion.finding.count = hosts.size();
  lay_on_nodes(facts, hosts, room, suspicion);
  if (standing == Standing::elsewhere) {
    suspicion.finding.part_of_job = false;
    suspicion.finding.title += "; the job did not run there, as far as lines show";
  } else if (standing == Standing::unknown) {
    // A cluster always has a node that is down: no line says whether that mattered to this job.
    suspicion.sure.add(Ground::node_of_no_job);
    if (suspicion.verdict != Verdict::healthy) suspicion.verdict = Verdict::unknown;
    suspicion.finding.severity = std::min(suspicion.finding.severity, Severity::warning);
  } else if (!facts.view.hosts.empty()) {
    const EventTime& time = hits.front().series->last().line->time;
    place_in_time(facts.view,
                  {.phase = facts.view.phases.of({.time = time, .host = hosts.front()}),
                   .host = hosts.front()},
                  suspicion);
  }
  return suspicion;
}

void suspect_nodes(const PartFacts& facts, const Nodes& nodes, const ScheduledJobs& jobs,
                   const std::set<std::string>& told, Room& room, Suspicions& found) {
  struct Alike {
    std::vector<std::string> hosts;
    Hits hits;
  };
  const std::set<std::string> of_pods = hosts_of_pods(facts);
  std::map<std::tuple<const PartCondition*, Standing, std::string>, Alike> alike;
  for (const auto& [host, node] : nodes) {
    if (node.hits.empty() || told.contains(host)) continue;
    const ConditionHit& hit = node.hits.front();
    Alike& group = alike[{hit.condition, standing_of(facts, host, of_pods, jobs), hit.value}];
    group.hosts.push_back(host);
    // The lines of a node with a name say more.
    if (group.hosts.size() == 2 && group.hosts.front().empty()) group.hits.clear();
    if (group.hits.empty()) group.hits.push_back(hit);
  }
  for (auto& [key, group] : alike) {
    const bool more = group.hosts.size() > 1 && std::erase(group.hosts, "") > 0;
    std::string names = some_hosts(group.hosts);
    if (more) names += " and nodes whose names could not be read";
    found.push_back(
        describe_nodes(facts, group.hosts, names, group.hits, std::get<Standing>(key), room));
  }
}

}  // namespace

Suspicions suspect_scheduler(const PartFacts& facts) {
  const Nodes nodes = nodes_in(facts);
  const ScheduledJobs jobs(facts, gone_among(nodes));
  if (jobs.all().empty() && nodes.empty()) return {};
  const auto failed = std::ranges::count_if(jobs.all(), [&](const ScheduledJob& job) {
    return job.ending.has_value() && !jobs.ran_elsewhere(job);
  });
  Suspicions found;
  Room room;
  std::set<std::string> told;
  for (const ScheduledJob& job : jobs.all()) {
    if (!job.ending) continue;
    std::vector<std::string> lost = jobs.nodes_lost_by(job, room);
    told.insert(lost.begin(), lost.end());
    found.push_back(describe_ending(facts, jobs, job, nodes, lost, room));
    if (failed > 1) found.back().sure.add(Ground::one_of_several_jobs);
  }
  suspect_reboots(facts, nodes, jobs, told, room, found);
  suspect_nodes(facts, nodes, jobs, told, room, found);
  return found;
}

}  // namespace faultline
