#include "rules/detectors/xid.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "rules/advice.h"

namespace faultline {
namespace {

// How sure it is that this GPU failed and that it matters to the job.
constexpr double kOnARank = 0.95;
constexpr double kHostUnknown = 0.7;   // the address fits a rank, but no line names the machine
constexpr double kGpuUnknown = 0.75;   // the machine is the job's, but no Init line names its GPUs
constexpr double kNoRanksKnown = 0.6;  // nothing tells what the job ran on
constexpr double kUserProgram = 0.8;   // one sighting of a code that a bug in the program causes
constexpr double kBootPenalty = 0.2;   // the machine was started anew since
constexpr std::size_t kMostLines = 3;

// Xids of one class on one GPU: several codes may tell of one fault.
struct Group {
  std::vector<const XidIncident*> incidents;  // as they came
  const XidMeaning* worst = nullptr;
};

// Whether and how the GPU belongs to the job.
struct Membership {
  enum class Kind { rank, host_unknown, gpu_unknown, no_ranks, bystander };
  Kind kind = Kind::no_ranks;
  std::vector<std::size_t> workers;
};

bool starts_before_job(const View& view, const XidIncident& incident) {
  std::optional<bool> before;
  for (std::size_t index : view.members) {
    const Member& member = view.member(index);
    const LineRef& first = member.init_line.known() ? member.init_line : member.last_line;
    bool same_host = !member.host.empty() &&
                     member.host == view.job.host_of(incident.spoken_host, incident.source);
    Order order = order_of(incident.last.time, first.time, same_host);
    if (order == Order::cannot_tell) continue;
    before = before.value_or(true) && order == Order::before;
  }
  return before.value_or(false);
}

// Workers whose machine has this name, or may have it.
std::vector<std::size_t> workers_on(const View& view, const std::string& host) {
  const std::vector<Worker>& workers = view.workers.all;
  std::vector<std::size_t> by_own_name;
  std::vector<std::size_t> by_senders_name;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (host.empty() || workers[i].host.empty() || workers[i].host == host)
      by_own_name.push_back(i);
    if (workers[i].sender_host == host) by_senders_name.push_back(i);
  }
  // In a container NCCL prints the container's name; then the sender knows the machine's.
  return by_own_name.empty() ? by_senders_name : by_own_name;
}

Membership membership_of(const View& view, const std::string& host, const std::string& gpu) {
  const std::vector<Worker>& workers = view.workers.all;
  Membership membership;
  if (workers.empty()) return membership;
  bool gpus_unknown = false;
  for (std::size_t i : workers_on(view, host)) {
    gpus_unknown |= workers[i].gpu.empty();
    if (workers[i].gpu == gpu) membership.workers.push_back(i);
  }
  using Kind = Membership::Kind;
  // Two ranks on one GPU are possible; two machines of one name are not.
  std::set<std::string> machines;
  for (std::size_t i : membership.workers) machines.insert(workers[i].host);
  if (membership.workers.empty())
    membership.kind = gpus_unknown ? Kind::gpu_unknown : Kind::bystander;
  else
    membership.kind = !host.empty() && machines.size() == 1 && !machines.contains("")
                          ? Kind::rank
                          : Kind::host_unknown;
  return membership;
}

// The same address exists on every machine of a cluster. If the machine is not known, the rank that
// is waited for settles it.
void settle_by_who_is_behind(const View& view, Membership& membership) {
  if (membership.kind != Membership::Kind::host_unknown || membership.workers.size() < 2) return;
  std::set<std::size_t> behind;
  for (const Alignment& alignment : view.alignments)
    for (std::size_t member : alignment.behind) behind.insert(view.workers.of_member[member]);
  std::vector<std::size_t> settled;
  for (std::size_t worker : membership.workers)
    if (behind.contains(worker)) settled.push_back(worker);
  membership.workers = settled.size() == 1 ? settled : std::vector<std::size_t>();
}

// The line that says which rank a GPU is.
const LineRef* line_that_ties(const View& view, const Worker& worker) {
  for (std::size_t index : worker.members) {
    const Member& member = view.member(index);
    if (member.init && member.init->rank == worker.rank && member.init_line.known())
      return &member.init_line;
  }
  return nullptr;
}

double confidence_of(const Group& group, const Membership& membership, bool booted_since) {
  using Kind = Membership::Kind;
  double confidence = kOnARank;
  if (membership.kind == Kind::host_unknown) confidence = kHostUnknown;
  if (membership.kind == Kind::gpu_unknown) confidence = kGpuUnknown;
  if (membership.kind == Kind::no_ranks) confidence = kNoRanksKnown;
  if (group.worst->cause.starts_with("software.")) confidence = std::min(confidence, kUserProgram);
  return booted_since ? confidence - kBootPenalty : confidence;
}

Verdict verdict_of(const XidMeaning& meaning) {
  if (meaning.impact == "none") return Verdict::healthy;
  return meaning.impact == "degrades" ? Verdict::slow : Verdict::failed;
}

std::string title_of(const Catalog& catalog, const Finding& finding, const std::string& gpu) {
  const Subject& subject = finding.subject;
  AdviceSubject about{
      .host = subject.hosts.empty() ? "a host that no line names" : subject.hosts.front(),
      .gpu = gpu,
      .rank = std::nullopt};
  if (subject.ranks.size() == 1) about.rank = subject.ranks.front();
  const Advice* advice = catalog.advice_for(finding.cause);
  // A title that speaks of a rank is no use where the rank is not known.
  bool tells =
      advice != nullptr && (about.rank || advice->title.find("{rank}") == std::string::npos);
  return tells ? fill_in(advice->title, about)
               : fmt::format("GPU {} on {} reported {}", gpu, about.host, finding.cause);
}

Suspicion describe(const View& view, const std::string& host, const std::string& gpu,
                   const Group& group) {
  Membership membership = membership_of(view, host, gpu);
  settle_by_who_is_behind(view, membership);
  const XidIncident& first = *group.incidents.front();

  Suspicion suspicion;
  suspicion.since = first.first.time;
  suspicion.verdict = verdict_of(*group.worst);
  suspicion.stops_job = group.worst->severity == Severity::critical;
  Finding& finding = suspicion.finding;
  finding.cause = group.worst->cause;
  finding.severity = group.worst->severity;
  std::string codes;
  std::set<int> distinct;
  for (const XidIncident* incident : group.incidents)
    if (distinct.insert(incident->code).second)
      codes += fmt::format("{}{}", codes.empty() ? "" : ", ", incident->code);

  finding.count = 0;
  bool booted_since = false;
  for (const XidIncident* incident : group.incidents) {
    finding.count += incident->count;
    booted_since |= incident->boot < view.job.hardware().boots(incident->source);
    if (finding.evidence.size() < kMostLines)
      finding.evidence.push_back(view.evidence(incident->first));
    if (auto time = incident->last.time.wall()) finding.last_seen = time;
  }
  finding.confidence = confidence_of(group, membership, booted_since);

  std::set<std::string> hosts;
  std::set<int> ranks;
  if (!host.empty()) hosts.insert(host);
  for (std::size_t index : membership.workers) {
    const Worker& worker = view.workers.all[index];
    if (worker.rank >= 0) ranks.insert(worker.rank);
    if (host.empty() && membership.workers.size() == 1 && !worker.host.empty())
      hosts.insert(worker.host);
  }
  if (membership.workers.size() == 1)
    if (const LineRef* line = line_that_ties(view, view.workers.all[membership.workers.front()]))
      finding.evidence.push_back(view.evidence(*line));
  const std::string named_host = hosts.empty() ? std::string() : *hosts.begin();
  finding.subject = {{hosts.begin(), hosts.end()},
                     {ranks.begin(), ranks.end()},
                     {gpu_name(named_host, gpu)},
                     {},
                     {}};
  finding.title = fmt::format("{} (Xid {})", title_of(view.catalog, finding, gpu), codes);
  bool old = starts_before_job(view, first);
  const bool whose_is_open =
      membership.kind == Membership::Kind::host_unknown && membership.workers.empty();
  finding.part_of_job = membership.kind != Membership::Kind::bystander && !whose_is_open && !old;
  if (old) finding.title += ", before the job began";
  return suspicion;
}

}  // namespace

std::vector<Suspicion> find_xids(const View& view) {
  std::map<std::tuple<std::string, std::string, std::string>, Group> groups;
  for (const XidIncident& incident : view.job.hardware().xids()) {
    const XidMeaning* meaning = view.catalog.xid(incident.code);
    if (meaning == nullptr || meaning->cause.empty()) continue;
    std::string host = view.job.host_of(incident.spoken_host, incident.source);
    Group& group = groups[{std::move(host), incident.gpu, meaning->cause}];
    group.incidents.push_back(&incident);
    if (group.worst == nullptr || meaning->severity > group.worst->severity) group.worst = meaning;
  }
  std::vector<Suspicion> found;
  found.reserve(groups.size());
  for (const auto& [key, group] : groups)
    found.push_back(describe(view, std::get<0>(key), std::get<1>(key), group));
  return found;
}

}  // namespace faultline
