// What a scheduler reports about jobs and nodes: why it ended a job, and which nodes it lost.
// conditions.yaml says what its words mean; which job and node they are about is worked out here.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

#include "rules/detect/parts/facts.h"
#include "rules/detect/placed.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/prose.h"
#include "rules/picture/who/host_list.h"

namespace faultline {
namespace {

constexpr std::size_t kMostNamed = 8;
constexpr std::size_t kMostNodes = 65536;

using Hits = std::vector<ConditionHit>;

// The latest value of the first of these fields that the record has.
std::string value_in(const PartFacts& facts, const PartRecord& record,
                     std::initializer_list<std::string_view> fields) {
  for (const std::string_view field : fields)
    for (const PartSeries& series : record.values)
      if (normalised_field(facts.parts().text(series.name)) == field) return series.last().value;
  return {};
}

std::string listed(const std::vector<std::string>& hosts) {
  if (hosts.size() <= kMostNamed) return fmt::format("{}", fmt::join(hosts, ", "));
  return fmt::format("{} and {} more", fmt::join(hosts.begin(), hosts.begin() + kMostNamed, ", "),
                     hosts.size() - kMostNamed);
}

// --- Nodes -------------------------------------------------------------------------------------

struct Node {
  Hits hits;  // conditions that its latest words meet: the most telling one first
  std::string booted;

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
  struct Word {
    const LineRef* line = nullptr;
    const PartRecord* record = nullptr;
  };
  std::map<std::tuple<std::string, std::string, std::string>, Word> latest;
  std::map<const PartRecord*, std::vector<std::string>> hosts_of;
  HostLists lists;
  for (const PartRecord& record : facts.parts().records()) {
    if (record.kind != "nodes" || latest.size() > kMostNodes) continue;
    hosts_of[&record] = lists.hosts_in(record.name("nodes"));
    if (hosts_of[&record].empty()) hosts_of[&record] = {""};  // a node that no line names
    for (const std::string& host : hosts_of[&record])
      for (const PartSeries& series : record.values) {
        Word& word = latest[{host, record.tool, normalised_field(facts.parts().text(series.name))}];
        const LineRef* line = series.last().line.get();
        if (word.line == nullptr || is_later(*line, *word.line)) word = {line, &record};
      }
  }
  Nodes nodes;
  for (const auto& [record, hosts] : hosts_of) {
    const Hits hits = conditions_met(facts, *record);
    for (const std::string& host : hosts) {
      Node& node = nodes[host];
      node.booted = std::max(node.booted, value_in(facts, *record, {"boottime"}));
      for (const ConditionHit& hit : hits)
        if (latest[{host, record->tool, normalised_field(hit.field)}].record == record)
          node.hits.push_back(hit);
    }
  }
  for (auto& [host, node] : nodes)
    std::ranges::stable_sort(node.hits, {}, [](const ConditionHit& hit) { return hit.condition; });
  return nodes;
}

// --- Jobs --------------------------------------------------------------------------------------

struct Job {
  std::string name;
  std::vector<const PartRecord*> records;
  std::set<std::string> hosts;
  std::string start;
  std::string end;
  bool completed = false;  // by its own row, whatever its steps did
  std::optional<ConditionHit> ending;
  Hits as_well;  // that say the same
};

// Whether Slurm itself ended the step, for a reason that the job's row gives.
bool is_echo(const ConditionHit& hit) {
  return !hit.record->name("step").empty() && hit.value.starts_with("CANCELLED");
}

// A sort key: the smallest hit says most. A node that died takes all steps with it, and some of
// them end badly; otherwise the step that failed first shows why the job did.
auto how_telling(const PartFacts& facts, const ConditionHit& hit) {
  const std::string_view step = hit.record->name("step");
  const int what = hit.condition->finding == Cause::host_down         ? 0
                   : hit.condition->finding == Cause::host_oom_killed ? 1
                   : is_echo(hit)                                     ? 4
                   : step.empty()                                     ? 3
                                                                      : 2;
  std::string ended = value_in(facts, *hit.record, {"end"});
  if (ended.empty() || std::isdigit(static_cast<unsigned char>(ended.front())) == 0) ended = "~";
  int number = INT32_MAX;  // batch and extern end after the steps that they hold
  if (step.empty() && what == 0) number = -1;
  std::from_chars(step.data(), step.data() + step.size(), number);
  return std::tuple(what, what == 2 ? ended : std::string(), -hit.condition->confidence, number);
}

std::string job_number(std::string_view name) {
  return std::string(name.substr(0, name.find_first_not_of("0123456789_")));
}

void settle_ending(const PartFacts& facts, Job& job) {
  Hits hits;
  bool whole_is_told = false;
  for (const PartRecord* record : job.records) {
    const bool whole = record->name("step").empty();
    for (ConditionHit& hit : conditions_met(facts, *record)) {
      whole_is_told |= whole;
      hits.push_back(std::move(hit));
    }
  }
  if (hits.empty() || (job.completed && !whole_is_told)) return;
  std::ranges::stable_sort(hits, {},
                           [&](const ConditionHit& hit) { return how_telling(facts, hit); });
  job.ending = hits.front();
  for (std::size_t i = 1; i < hits.size(); ++i)
    if (hits[i].condition->finding == job.ending->condition->finding)
      job.as_well.push_back(hits[i]);
}

class Jobs {
 public:
  explicit Jobs(std::vector<Job> jobs);

  const std::vector<Job>& all() const { return all_; }

  // Whether lines show of any job where it ran, or that it needs no node any more.
  bool show_where_any_ran() const { return show_where_any_ran_; }

  // That ran there, by their own words.
  std::vector<const Job*> on(const std::string& host) const;

  // That ran there or may have, in their order.
  std::vector<const Job*> maybe_on(const std::string& host) const;

  // Of jobs whose nodes are unknown, only these may be matched with nodes: of more, no match means
  // anything.
  bool may_be_matched(const Job& job) const;

 private:
  static constexpr std::size_t kMostOfUnknownNodes = 64;

  std::vector<Job> all_;
  std::map<std::string, std::vector<const Job*>, std::less<>> on_host_;
  std::vector<const Job*> of_unknown_nodes_;
  bool show_where_any_ran_ = false;
};

Jobs::Jobs(std::vector<Job> jobs) : all_(std::move(jobs)) {
  for (const Job& job : all_) {
    show_where_any_ran_ |= job.completed || !job.hosts.empty();
    for (const std::string& host : job.hosts) on_host_[host].push_back(&job);
    if (job.hosts.empty() && of_unknown_nodes_.size() < kMostOfUnknownNodes)
      of_unknown_nodes_.push_back(&job);
  }
}

std::vector<const Job*> Jobs::on(const std::string& host) const {
  const auto found = on_host_.find(host);
  return found == on_host_.end() ? std::vector<const Job*>() : found->second;
}

std::vector<const Job*> Jobs::maybe_on(const std::string& host) const {
  const std::vector<const Job*> there = on(host);
  std::vector<const Job*> both;
  std::ranges::merge(there, of_unknown_nodes_, std::back_inserter(both));
  return both;
}

bool Jobs::may_be_matched(const Job& job) const {
  return !job.hosts.empty() || std::ranges::binary_search(of_unknown_nodes_, &job);
}

Jobs jobs_in(const PartFacts& facts) {
  std::map<std::string, Job> by_number;
  HostLists lists;
  for (const PartRecord& record : facts.parts().records()) {
    if (record.kind != "job") continue;
    Job& job = by_number[job_number(record.name("job"))];
    job.name = job_number(record.name("job"));
    job.records.push_back(&record);
    for (std::string& host : lists.hosts_in(value_in(facts, record, {"nodelist"})))
      job.hosts.insert(std::move(host));
    if (!record.name("step").empty()) continue;
    if (job.start.empty()) job.start = value_in(facts, record, {"start", "starttime"});
    if (job.end.empty()) job.end = value_in(facts, record, {"end", "endtime"});
    const std::string state = value_in(facts, record, {"state", "jobstate"});
    job.completed |= state == "COMPLETED";
  }
  std::vector<Job> jobs;
  for (auto& [number, job] : by_number) {
    settle_ending(facts, job);
    jobs.push_back(std::move(job));
  }
  return Jobs(std::move(jobs));
}

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

// Whether it ran on none of the hosts of the ranks, and so is not the job that the logs are of.
bool runs_elsewhere(const std::set<std::string>& of_ranks, const Job& job) {
  return !of_ranks.empty() && !job.hosts.empty() &&
         std::ranges::none_of(job.hosts,
                              [&](const std::string& host) { return of_ranks.contains(host); });
}

std::vector<std::string> nodes_lost(const Job& job, const std::set<std::string>& of_ranks,
                                    const Nodes& nodes) {
  const std::set<std::string>& may_be = job.hosts.empty() ? of_ranks : job.hosts;
  std::vector<std::string> lost;
  const auto add = [&](const std::string& host, const Node& node) {
    if (node.is_gone() && !host.empty()) lost.push_back(host);
  };
  if (may_be.empty())
    for (const auto& [host, node] : nodes) add(host, node);
  else
    for (const std::string& host : may_be)
      if (const auto node = nodes.find(host); node != nodes.end()) add(host, node->second);
  if (lost.empty() && job.hosts.size() == 1) lost.push_back(*job.hosts.begin());
  return lost;
}

void lay_on_nodes(const PartFacts& facts, const std::vector<std::string>& hosts,
                  Suspicion& suspicion) {
  Subject& subject = suspicion.finding.subject;
  std::set<int> ranks(subject.ranks.begin(), subject.ranks.end());
  std::set<std::string> known(subject.hosts.begin(), subject.hosts.end());
  for (const std::string& host : hosts) {
    for (const std::size_t worker : facts.view.workers.on(host))
      if (const int rank = facts.view.workers.all[worker].rank; rank >= 0) ranks.insert(rank);
    if (!host.empty() && known.insert(host).second) subject.hosts.push_back(host);
  }
  subject.ranks.assign(ranks.begin(), ranks.end());
}

Suspicion describe_ending(const PartFacts& facts, const Job& job, const Nodes& nodes,
                          const std::set<std::string>& of_ranks,
                          const std::vector<std::string>& lost) {
  Hits hits{*job.ending};
  const PartRecord& record = *job.ending->record;
  const std::string at = job.hosts.size() == 1 ? *job.hosts.begin() : std::string();
  Suspicion suspicion = suspicion_of(facts, hits, {.part = name_of(record), .host = at, .gpu = {}});
  Finding& finding = suspicion.finding;
  for (const ConditionHit& hit : job.as_well)
    add_line(facts.view, hit.series->last().line.get(), finding);
  if (finding.cause == Cause::process_aborted)
    finding.title += exit_in_words(value_in(facts, record, {"exitcode"}));
  begin_with_a_capital(finding.title);
  suspicion.stops_job = is(finding.cause, Trait::symptom);
  if (finding.cause != Cause::host_down) {
    if (!at.empty()) lay_on_nodes(facts, {at}, suspicion);
  } else if (lost.empty()) {
    suspicion.sure.add(Ground::one_of_several_hosts);
  } else {
    finding.title += fmt::format(": {}", listed(lost));
    lay_on_nodes(facts, lost, suspicion);
    for (const std::string& host : lost)
      if (const auto node = nodes.find(host); node != nodes.end())
        for (const ConditionHit& hit : node->second.hits)
          add_line(facts.view, hit.series->last().line.get(), finding);
    if (job.hosts.empty()) suspicion.sure.add(Ground::nodes_of_job_unknown);
  }
  if (runs_elsewhere(of_ranks, job)) {
    finding.part_of_job = false;
    finding.title += "; no rank was seen on its nodes";
  } else if (!of_ranks.empty() && job.hosts.empty()) {
    suspicion.sure.add(Ground::nodes_of_job_unknown);
  }
  return suspicion;
}

// Slurm's time stamps are of one clock and one zone, and compare as texts do.
bool is_stamp(std::string_view text) {
  constexpr std::size_t kLength = 19;
  return text.size() >= kLength && text[4] == '-' && text[10] == 'T';
}

// The job that ran when the node booted.
const Job* job_that_it_left(const std::string& host, const Node& node, const Jobs& jobs) {
  const std::vector<const Job*> there = jobs.maybe_on(host);
  const auto found = std::ranges::find_if(there, [&](const Job* job) {
    if (job->completed || !is_stamp(job->start) || job->start >= node.booted) return false;
    return !is_stamp(job->end) || job->end >= node.booted;
  });
  return found == there.end() ? nullptr : *found;
}

void suspect_reboots(const PartFacts& facts, const Nodes& nodes, const Jobs& jobs,
                     std::set<std::string>& told, Suspicions& found) {
  HostLists lists;
  for (const PartRecord& record : facts.parts().records()) {
    if (record.kind != "nodes" || value_in(facts, record, {"boottime"}).empty()) continue;
    for (const std::string& host : lists.hosts_in(record.name("nodes"))) {
      const auto node = nodes.find(host);
      if (node == nodes.end() || told.contains(host)) continue;
      const Job* job = job_that_it_left(host, node->second, jobs);
      if (job == nullptr) continue;
      told.insert(host);
      Suspicion& suspicion = found.emplace_back();
      Finding& finding = suspicion.finding;
      finding.cause = Cause::host_down;
      finding.severity = Severity::critical;
      finding.title =
          fmt::format("{} rebooted at {}, during job {}", host, node->second.booted, job->name);
      suspicion.sure = Claim::host_started_anew;
      if (job->hosts.empty()) suspicion.sure.add(Ground::nodes_of_job_unknown);
      add_line(facts.view, record.last.get(), finding);
      lay_on_nodes(facts, {host}, suspicion);
    }
  }
}

// The hosts on which the job runs, as far as is known.
struct Places {
  std::set<std::string> of_ranks;
  std::set<std::string> of_pods;  // hosts of the pods that Kubernetes was asked about: the job's
};

std::set<std::string> hosts_of_pods(const PartFacts& facts) {
  std::set<std::string> hosts;
  for (const PartRecord& record : facts.parts().records())
    if (record.kind == "pod" && !record.spoken_host.empty())
      hosts.insert(short_host(record.spoken_host));
  return hosts;
}

// How a node stands to the job that is asked about.
enum class Standing { of_the_job, elsewhere, unknown };

Standing standing_of(const PartFacts& facts, const std::string& host, const Places& places,
                     const Jobs& jobs) {
  if (!places.of_ranks.empty())
    return owner_of_host(facts.view, host).owner == Owner::host ? Standing::of_the_job
                                                                : Standing::elsewhere;
  if (places.of_pods.contains(host)) return Standing::of_the_job;
  const auto ended = [](const Job* job) { return job->ending.has_value(); };
  if (std::ranges::any_of(jobs.on(host), ended)) return Standing::of_the_job;
  return jobs.show_where_any_ran() ? Standing::elsewhere : Standing::unknown;
}

Suspicion describe_nodes(const PartFacts& facts, const std::vector<std::string>& hosts,
                         const Hits& hits, Standing standing,
                         const std::set<std::string>& of_ranks) {
  Suspicion suspicion = suspicion_of(facts, hits, {.part = {}, .host = listed(hosts), .gpu = {}});
  suspicion.finding.count = hosts.size();
  lay_on_nodes(facts, hosts, suspicion);
  if (standing == Standing::elsewhere) {
    suspicion.finding.part_of_job = false;
    suspicion.finding.title += "; the job did not run there, as far as lines show";
  } else if (standing == Standing::unknown) {
    // A cluster always has a node that is down: no line says whether that mattered to this job.
    suspicion.sure.add(Ground::node_of_no_job);
    if (suspicion.verdict != Verdict::healthy) suspicion.verdict = Verdict::unknown;
    suspicion.finding.severity = std::min(suspicion.finding.severity, Severity::warning);
  } else if (!of_ranks.empty()) {
    const EventTime& time = hits.front().series->last().line->time;
    place_in_time(facts.view,
                  {.phase = facts.view.phases.of({.time = time, .host = hosts.front()}),
                   .host = hosts.front()},
                  suspicion);
  }
  return suspicion;
}

void suspect_nodes(const PartFacts& facts, const Nodes& nodes, const Jobs& jobs,
                   const Places& places, const std::set<std::string>& told, Suspicions& found) {
  struct Alike {
    std::vector<std::string> hosts;
    Hits hits;
  };
  std::map<std::tuple<const PartCondition*, Standing, std::string>, Alike> alike;
  for (const auto& [host, node] : nodes) {
    if (node.hits.empty() || told.contains(host)) continue;
    const ConditionHit& hit = node.hits.front();
    Alike& group = alike[{hit.condition, standing_of(facts, host, places, jobs), hit.value}];
    group.hosts.push_back(host);
    if (group.hits.empty()) group.hits.push_back(hit);
  }
  for (auto& [key, group] : alike) {
    if (group.hosts.size() > 1) std::erase(group.hosts, "");  // one that no line names
    found.push_back(
        describe_nodes(facts, group.hosts, group.hits, std::get<Standing>(key), places.of_ranks));
  }
}

}  // namespace

Suspicions suspect_scheduler(const PartFacts& facts) {
  const Jobs jobs = jobs_in(facts);
  const Nodes nodes = nodes_in(facts);
  if (jobs.all().empty() && nodes.empty()) return {};
  const std::set<std::string>& of_ranks = facts.view.hosts;
  const auto failed = std::ranges::count_if(jobs.all(), [&](const Job& job) {
    return job.ending.has_value() && !runs_elsewhere(of_ranks, job);
  });
  Suspicions found;
  std::set<std::string> told;
  for (const Job& job : jobs.all()) {
    if (!job.ending) continue;
    std::vector<std::string> lost;
    if (job.ending->condition->finding == Cause::host_down && jobs.may_be_matched(job))
      lost = nodes_lost(job, of_ranks, nodes);
    told.insert(lost.begin(), lost.end());
    found.push_back(describe_ending(facts, job, nodes, of_ranks, lost));
    if (failed > 1) found.back().sure.add(Ground::one_of_several_jobs);
  }
  suspect_reboots(facts, nodes, jobs, told, found);
  suspect_nodes(facts, nodes, jobs, {of_ranks, hosts_of_pods(facts)}, told, found);
  return found;
}

}  // namespace faultline
