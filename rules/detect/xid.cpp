#include "rules/detect/xid.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "rules/detect/lost_together.h"
#include "rules/detect/past_offences.h"
#include "rules/detect/placed.h"
#include "rules/knowledge/advice.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/prose.h"
#include "rules/picture/read/xid_bursts.h"
#include "rules/picture/when/resets.h"
#include "rules/picture/who/membership.h"
#include "rules/picture/who/owner.h"

namespace faultline {
namespace {

constexpr std::size_t kMostGpusNamed = 16;

constexpr std::size_t kFaultsOfPrograms = 3;  // bursts of them, by different processes
constexpr std::size_t kFaultsOfJobs = 2;      // earlier jobs
constexpr std::size_t kStopsUnderPrograms = 2;

constexpr Cause kMemory = Cause::gpu_ecc_uncorrectable;
constexpr Cause kRemap = Cause::gpu_row_remap;
constexpr Cause kProgram = Cause::software_gpu_memory_fault;
constexpr Cause kLinks = Cause::gpu_nvlink_error;
constexpr Cause kHang = Cause::gpu_hang;
constexpr std::string_view kRecovered = "None";
constexpr Cause kTeardown = Cause::gpu_teardown;

// The Xids of one class on one GPU (or on one host, if the driver only cleaned up).
struct XidGroup {
  std::string host;
  Cause cause = Cause::none;
  std::set<std::string> gpus;
  std::vector<const ReadXid*> xids;
  std::vector<const GpuBurst*> bursts;  // to which they belong
  const ReadXid* main = nullptr;
  EventTime since;
  bool is_root = false;  // it holds the root of a burst
  bool stops_under_programs = false;
};

Phase phase_of(const View& view, const ReadXid& xid, const std::string& host, const EventTime& time,
               const Endurance& ranks) {
  const XidIncident& incident = *xid.incident;
  if (incident.upkeep != Upkeep::none) return Phase::maintenance;
  return view.phases.of({.time = time,
                         .host = host,
                         .ranks = &ranks,
                         .log = boot_of(view, incident.spoken_host, incident.first)});
}

// Whether the whole burst was before the job; such bursts are grouped apart.
bool is_old(const View& view, const GpuBurst& burst) {
  return std::ranges::all_of(
      burst.xids, [&](const ReadXid& xid) { return view.phases.is_before(xid.last, burst.host); });
}

Phase phase_of(const View& view, const XidGroup& group, const std::vector<int>& ranks) {
  std::optional<Phase> shared;
  const Endurance endurance = view.phases.endurance(group.host, ranks);
  for (const ReadXid* xid : group.xids) {
    const Phase phase = phase_of(view, *xid, group.host, xid->last, endurance);
    // A fault that began before the job ended does not count as one after it.
    const bool began_before_end =
        phase == Phase::after &&
        phase_of(view, *xid, group.host, xid->first, endurance) != Phase::after;
    if (began_before_end) return Phase::during;
    shared = std::max(shared.value_or(phase), phase);
  }
  return shared.value_or(Phase::during);
}

// Whether it names no process, names the process of a rank, or is on the GPU of a rank that
// stopped.
bool is_tied(const View& view, const XidGroup& group,
             const std::vector<GpuMembership>& memberships) {
  std::set<std::int64_t> pids;
  for (const ReadXid* xid : group.xids)
    pids.insert(xid->incident->pids.begin(), xid->incident->pids.end());
  for (const GpuMembership& membership : memberships)
    for (const std::size_t worker : membership.workers)
      if (pids.empty() || pids.contains(view.workers.all[worker].pid) ||
          view.standstill.of_worker(worker))
        return true;
  return false;
}

// How sure it is that this GPU failed and that it matters to the job.
Sureness sureness_of_xid(const XidGroup& group, const GpuMembership& membership,
                         bool booted_since) {
  using Kind = GpuMembership::Kind;
  Sureness sure = is_of(group.cause, Family::software) ? Claim::xid_of_a_program : Claim::xid;
  if (membership.kind == Kind::host_unknown) sure.add(Ground::host_unknown);
  if (membership.kind == Kind::gpu_unknown) sure.add(Ground::gpu_unknown);
  if (membership.kind == Kind::no_ranks) sure.add(Ground::ranks_unknown);
  if (membership.kind == Kind::unseen_rank) sure.add(Ground::rank_unseen);
  if (group.main->reading.echo) sure.add(Ground::echo_by_its_words);
  if (group.main->inferred) sure.add(Ground::line_missing);
  if (booted_since) sure.add(Ground::rebooted_since);
  return sure;
}

Verdict verdict_of(const XidReading& reading) {
  if (reading.impact == "none") return Verdict::healthy;
  if (reading.impact == "varies" && reading.severity <= Severity::warning) return Verdict::healthy;
  return reading.impact == "degrades" ? Verdict::slow : Verdict::failed;
}

AdviceSubject about(const Finding& finding, const std::string& gpu) {
  const Subject& subject = finding.subject;
  AdviceSubject known{
      .host = subject.hosts.empty() ? "" : subject.hosts.front(), .gpu = gpu, .rank = std::nullopt};
  if (subject.ranks.size() == 1) known.rank = subject.ranks.front();
  return known;
}

std::string title_of_xid(const Catalog& catalog, const Finding& finding, const XidGroup& group) {
  AdviceSubject known = about(finding, *group.gpus.begin());
  if (known.host.empty()) known.host = host_in_words({});
  if (group.gpus.size() > 1)
    return fmt::format("The driver cleaned up after processes on {} GPUs of {}", group.gpus.size(),
                       known.host);
  if (finding.cause == kProgram && !known.rank)
    return fmt::format("A program made an illegal access on GPU {} of {}", known.gpu, known.host);
  const Advice* advice = catalog.advice_for(finding.cause);
  // A title with {rank} is of no use if the rank is not known.
  bool tells =
      advice != nullptr && (known.rank || advice->title.find("{rank}") == std::string::npos);
  return tells ? fill_in(advice->title, known)
               : fmt::format("GPU {} on {} reported {}", known.gpu, known.host, finding.cause);
}

std::string codes_of(const XidGroup& group) {
  std::string codes;
  std::set<int> distinct;
  for (const ReadXid* xid : group.xids)
    if (distinct.insert(xid->meaning->code).second)
      codes += fmt::format("{}{}", codes.empty() ? "" : ", ", xid->meaning->code);
  if (group.main->inferred) codes += ", whose own line is missing";
  if (!group.main->reading.says.empty()) codes += ": " + group.main->reading.says;
  return codes;
}

// First what the driver advises for this GPU now, then the advice for the class, then what NVIDIA
// has published about the codes.
void add_actions_of_xid(const View& view, const XidGroup& group, Finding& finding) {
  const std::string host = finding.subject.hosts.empty() ? "" : finding.subject.hosts.front();
  const GpuBurst& burst = *group.bursts.back();
  const XidReading& reading = group.main->reading;
  const bool cleanup = finding.cause == kTeardown;
  if (burst.recovery == kRecovered && group.is_root)
    finding.actions.push_back(
        {.what = "The GPU was reset since and has recovered (Xid 154: None).", .where = host});
  else if (!burst.recovery_action.empty() && group.is_root)
    finding.actions.push_back(
        {.what = fmt::format("The driver's own advice: {}.", burst.recovery_action),
         .where = host});
  if (!reading.action.empty())
    finding.actions.push_back({.what = fmt::format("For this text of Xid {}: {}.",
                                                   group.main->meaning->code, reading.action),
                               .where = host});
  if (const Advice* advice = view.catalog.advice_for(finding.cause); advice != nullptr) {
    AdviceSubject known = about(finding, *group.gpus.begin());
    for (const Action& action : advice->actions) finding.actions.push_back(fill_in(action, known));
  }
  std::set<int> told;
  for (const ReadXid* xid : group.xids) {
    if (xid->meaning->code == 154 || !told.insert(xid->meaning->code).second || told.size() > 4)
      continue;
    finding.actions.push_back(
        {.what = fmt::format("Xid {}, NVIDIA: {}.", xid->meaning->code, xid->meaning->action),
         .where = host});
  }
  if (!group.main->meaning->escalation.empty() && !cleanup)
    finding.actions.push_back(
        {.what = fmt::format("Xid {}, NVIDIA's next step: {}.", group.main->meaning->code,
                             group.main->meaning->escalation),
         .where = host});
  if (cleanup)
    finding.actions.push_back(
        {.what = fmt::format("Xid {}, if no other error comes before it: {}.",
                             group.main->meaning->code, group.main->meaning->escalation),
         .where = host});
}

// The jobs whose programs faulted on this GPU and on none of their others.
std::vector<const PastOffence*> on_this_gpu_alone(std::vector<const PastOffence*> before) {
  std::erase_if(before, [](const PastOffence* past) { return !past->others_were_clean; });
  return before;
}

// Programs that the lines of these jobs and of this one name.
std::set<std::string> programs_of(const Finding& finding,
                                  const std::vector<const PastOffence*>& before) {
  std::set<std::string> programs;
  for (const Evidence& line : finding.evidence) programs.insert(program_in(line.text));
  for (const PastOffence* past : before) programs.insert(program_in(past->evidence.text));
  programs.erase("");
  return programs;
}

// An illegal access is the program's fault. Only if unrelated programs fault on one GPU and on no
// other may it be the GPU's: one user's bug comes back in jobs of many names.
void weigh_repeats(const View& view, const XidGroup& group, bool others_fault,
                   Suspicion& suspicion) {
  Finding& finding = suspicion.finding;
  if (group.stops_under_programs) {
    suspicion.sure.add(Ground::several_programs);
    finding.title += ", each time after another program faulted";
  }
  if (finding.cause != kProgram) return;
  const std::string host = finding.subject.hosts.empty() ? "" : finding.subject.hosts.front();
  constexpr std::string_view kDiagnose =
      "Run DCGM diagnostics (level 3) on this GPU, and run the programs on another GPU, before you "
      "blame either.";
  const std::vector<const PastOffence*> before = offences_before(view, group.cause, suspicion);
  const std::set<std::string> jobs = jobs_of(before);
  if (jobs.size() >= kFaultsOfJobs) {
    const std::vector<const PastOffence*> alone = on_this_gpu_alone(before);
    const bool one_program = programs_of(finding, before).size() == 1;
    const bool is_suspect = jobs_of(alone).size() >= kFaultsOfJobs && !one_program && !others_fault;
    finding.title +=
        fmt::format("; programs of {} other jobs faulted on this GPU before", jobs.size());
    if (one_program)
      finding.title += fmt::format(", all {}", *programs_of(finding, before).begin());
    add_past_lines(is_suspect ? alone : before, finding);
    if (is_suspect) {
      finding.cause = kHang;
      suspicion.sure.add(Ground::several_programs);
      finding.actions.insert(
          finding.actions.begin(),
          {.what = std::string(kDiagnose), .where = host, .command = "dcgmi diag -r 3"});
    } else {
      finding.actions.push_back(
          {.what =
               fmt::format("If the programs of those jobs have nothing in common: {}", kDiagnose),
           .where = host,
           .command = "dcgmi diag -r 3"});
    }
    return;
  }
  std::set<std::int64_t> pids;
  std::set<const GpuBurst*> bursts(group.bursts.begin(), group.bursts.end());
  for (const ReadXid* xid : group.xids)
    pids.insert(xid->incident->pids.begin(), xid->incident->pids.end());
  if (bursts.size() < kFaultsOfPrograms || pids.size() < kFaultsOfPrograms) return;
  suspicion.sure.add(Ground::several_programs);
  finding.title += fmt::format("; {} processes did so, minutes apart", pids.size());
  finding.actions.push_back({.what = fmt::format("If these were different programs: {}", kDiagnose),
                             .where = host,
                             .command = "dcgmi diag -r 3"});
}

// An illegal access ends only the program that made it, not others on its GPU.
void name_other_program(const XidGroup& group, ProcessOwners& owners, Suspicion& suspicion) {
  Finding& finding = suspicion.finding;
  if (group.cause != kProgram || finding.subject.ranks.empty()) return;
  std::set<std::int64_t> pids;
  for (const ReadXid* xid : group.xids)
    pids.insert(xid->incident->pids.begin(), xid->incident->pids.end());
  if (pids.empty()) return;
  const Owner owner = owners.of(group.host, pids);
  if (owner != Owner::host && owner != Owner::bystander) return;
  const std::string program = program_in(group.main->incident->first.text);
  finding.title = fmt::format(
      "Process {}{} made an illegal access on GPU {} of {} (Xid {}); by its "
      "PID it does not belong to the job",
      *pids.begin(), program.empty() ? "" : fmt::format(" ({})", program), *group.gpus.begin(),
      group.host, codes_of(group));
  suspicion.sure.add(Ground::other_program);
  suspicion.needs_effect = true;
  if (owner == Owner::bystander) finding.part_of_job = false;
}

// Links go down when the GPU at their other end is reset; the driver then asks for nothing.
void name_reset(const View& view, const XidGroup& group, Suspicion& suspicion) {
  if (group.cause != kLinks) return;
  std::string reset;
  for (const ReadXid* xid : group.xids) {
    const XidIncident& incident = *xid->incident;
    reset = reset_near(view, {incident.source, incident.spoken_host, incident.boot}, xid->first,
                       incident.gpu);
    if (reset.empty()) return;
  }
  if (std::ranges::any_of(group.bursts,
                          [](const GpuBurst* burst) { return burst->recovery_told != nullptr; }))
    return;
  suspicion.sure.add(Ground::while_reset);
  suspicion.finding.title += fmt::format(", while GPU {} of the host was reset", reset);
}

void name_upkeep(const XidGroup& group, Suspicion& suspicion) {
  if (suspicion.phase != Phase::maintenance) return;
  const bool is_shutdown = group.xids.back()->incident->upkeep == Upkeep::shutdown;
  suspicion.finding.title +=
      is_shutdown ? ", while the host was shut down" : ", while the driver was reloaded";
}

void gather_evidence(const View& view, const XidGroup& group, Finding& finding) {
  const auto add = [&](const LineRef& line) {
    const Evidence evidence = view.evidence(line);
    if (finding.evidence.size() < kMostLines &&
        std::ranges::find(finding.evidence, evidence) == finding.evidence.end())
      finding.evidence.push_back(evidence);
  };
  add(group.main->incident->first);
  for (const ReadXid* xid : group.xids) add(xid->incident->first);
  if (group.is_root && group.bursts.back()->recovery_told != nullptr)
    add(group.bursts.back()->recovery_told->last);
}

Suspicion describe_xid(const View& view, const XidGroup& group, Memberships& members,
                       ProcessOwners& owners, bool others_fault = false) {
  std::vector<GpuMembership> memberships;
  for (const std::string& gpu : group.gpus) memberships.push_back(members.of(group.host, gpu));
  const GpuMembership& best = *std::ranges::min_element(
      memberships, {}, [](const GpuMembership& m) { return static_cast<int>(m.kind); });

  Suspicion suspicion;
  suspicion.since = group.since;
  suspicion.verdict = verdict_of(group.main->reading);
  Finding& finding = suspicion.finding;
  finding.cause = group.cause;
  finding.severity = group.main->reading.severity;
  suspicion.stops_job = finding.severity == Severity::critical;

  finding.count = 0;
  bool booted_since = false;
  for (const ReadXid* xid : group.xids) {
    if (!xid->inferred) finding.count += xid->incident->count;
    booted_since |= xid->incident->boot <
                    view.job.boot_times().boots(xid->incident->source, xid->incident->spoken_host);
    if (auto time = xid->last.wall(); time && time > finding.last_seen) finding.last_seen = time;
  }
  finding.count = std::max<std::uint64_t>(finding.count, 1);
  suspicion.sure = sureness_of_xid(group, best, booted_since);
  gather_evidence(view, group, finding);

  std::set<std::string> hosts;
  std::set<int> ranks;
  if (!group.host.empty()) hosts.insert(group.host);
  for (const GpuMembership& membership : memberships) {
    for (std::size_t index : membership.workers) {
      const Worker& worker = view.workers.all[index];
      if (worker.rank >= 0) ranks.insert(worker.rank);
      if (group.host.empty() && membership.workers.size() == 1 && !worker.host.empty())
        hosts.insert(worker.host);
    }
  }
  if (memberships.size() == 1 && best.workers.size() == 1)
    if (const LineRef* line = line_that_ties(view, view.workers.all[best.workers.front()]))
      finding.evidence.push_back(view.evidence(*line));
  const std::string named_host = hosts.empty() ? std::string() : *hosts.begin();
  finding.subject = {{hosts.begin(), hosts.end()}, {ranks.begin(), ranks.end()}, {}, {}, {}};
  for (const std::string& gpu : group.gpus)
    if (finding.subject.gpus.size() < kMostGpusNamed)
      finding.subject.gpus.push_back(gpu_name(named_host, gpu));
  finding.title =
      fmt::format("{} (Xid {})", title_of_xid(view.catalog, finding, group), codes_of(group));
  add_actions_of_xid(view, group, finding);
  const bool apart = std::ranges::all_of(memberships, [](const GpuMembership& membership) {
    return membership.kind == GpuMembership::Kind::bystander || membership.is_open();
  });
  finding.part_of_job = !apart;
  place_in_time(view,
                {.phase = phase_of(view, group, finding.subject.ranks),
                 .host = group.host,
                 .tied = is_tied(view, group, memberships)},
                suspicion);
  if (group.is_root && group.bursts.back()->recovery == kRecovered)
    finding.title += ", and was reset since";
  suspicion.needs_effect |= best.kind == GpuMembership::Kind::unseen_rank;
  name_other_program(group, owners, suspicion);
  name_reset(view, group, suspicion);
  name_upkeep(group, suspicion);
  weigh_repeats(view, group, others_fault, suspicion);
  return suspicion;
}

// A memory error prints several lines: 48 reports it, 63 or 64 say what happens to the row, 94 or
// 95 who had used it. They are one error.
Cause class_in(const GpuBurst& burst, const ReadXid& xid) {
  const bool remap = xid.reading.cause == kRemap;
  return remap && std::ranges::any_of(burst.xids,
                                      [](const ReadXid& x) { return x.reading.cause == kMemory; })
             ? kMemory
             : xid.reading.cause;
}

bool is_worse(const ReadXid& a, const ReadXid& b) {
  if (a.reading.echo != b.reading.echo) return b.reading.echo;
  return a.reading.severity > b.reading.severity;
}

// A program that faults ends, and its GPU goes on. This finds the one GPU of a log that stopped for
// good in most bursts that began with a program's fault, each time another program's. None if
// programs faulted on other GPUs, too, or if all of them have one name: then it is their bug.
class StoppingGpu {
 public:
  explicit StoppingGpu(const std::vector<const GpuBurst*>& bursts) {
    std::set<std::pair<std::string, std::string>> gpus;
    std::set<std::int64_t> pids;
    std::set<std::string> names;
    std::size_t faults = 0;
    for (const GpuBurst* burst : bursts) {
      const std::vector<const ReadXid*> programs = faults_of_programs(*burst);
      if (programs.empty()) continue;
      gpus.emplace(burst->host, burst->gpu);
      if (!begins_with_a_program(*burst)) continue;
      ++faults;
      bool is_another = false;
      for (const ReadXid* xid : programs) {
        for (const std::int64_t pid : xid->incident->pids) is_another |= pids.insert(pid).second;
        names.insert(program_in(xid->incident->first.text));
      }
      if (is_another && stopped(*burst)) stops_.insert(burst);
    }
    names.erase("");
    if (gpus.size() != 1 || names.size() == 1 || stops_.size() < kStopsUnderPrograms ||
        2 * stops_.size() <= faults)
      stops_.clear();
  }

  bool stopped_in(const GpuBurst& burst) const { return stops_.contains(&burst); }

 private:
  static std::vector<const ReadXid*> faults_of_programs(const GpuBurst& burst) {
    std::vector<const ReadXid*> faults;
    for (const ReadXid& xid : burst.xids)
      if (xid.reading.cause == kProgram) faults.push_back(&xid);
    return faults;
  }

  static bool begins_with_a_program(const GpuBurst& burst) {
    const auto first = std::ranges::find_if(burst.xids, [](const ReadXid& xid) {
      return xid.reading.cause != Cause::none && xid.reading.cause != kTeardown;
    });
    return first != burst.xids.end() && first->reading.cause == kProgram;
  }

  static bool stopped(const GpuBurst& burst) {
    return std::ranges::any_of(burst.xids, [](const ReadXid& xid) {
      return xid.reading.cause == kHang && xid.reading.impact == "kills_gpu" && !xid.reading.echo;
    });
  }

  std::set<const GpuBurst*> stops_;
};

void add(XidGroup& group, const GpuBurst& burst, const ReadXid& xid, bool is_root) {
  group.gpus.insert(burst.gpu);
  group.xids.push_back(&xid);
  if (group.bursts.empty() || group.bursts.back() != &burst) group.bursts.push_back(&burst);
  const EventTime& since = is_root ? burst.since : xid.first;
  if (group.main == nullptr || order_of(since, group.since, true) == Order::before)
    group.since = since;
  if (group.main == nullptr || is_worse(xid, *group.main)) group.main = &xid;
  group.is_root |= is_root;
}

}  // namespace

std::vector<Suspicion> find_xids(const View& view) {
  // Host, GPU (none for what was only cleaned up there), class.
  using Key = std::tuple<std::string, std::string, Cause>;
  const std::vector<GpuBurst> bursts = gpu_bursts(view);
  std::map<Key, XidGroup> current;
  std::map<Key, XidGroup> past;  // before the job began
  std::vector<const GpuBurst*> of_job;
  for (const GpuBurst& burst : bursts)
    if (!is_old(view, burst)) of_job.push_back(&burst);
  const StoppingGpu stopping(of_job);
  for (const GpuBurst& burst : bursts) {
    const bool old = is_old(view, burst);
    for (std::size_t i = 0; i < burst.xids.size(); ++i) {
      const ReadXid& xid = burst.xids[i];
      Cause cause = class_in(burst, xid);
      if (cause == Cause::none) continue;
      const bool of_any_program = cause == kProgram && stopping.stopped_in(burst);
      if (of_any_program) cause = kHang;
      const bool of_host = cause == kTeardown;
      XidGroup& group = (old ? past : current)[{burst.host, of_host ? "" : burst.gpu, cause}];
      group.host = burst.host;
      group.cause = cause;
      group.stops_under_programs |= of_any_program;
      add(group, burst, xid, i == burst.root);
    }
  }
  std::vector<Suspicion> found;
  found.reserve(current.size() + past.size());
  const auto programs = std::ranges::count_if(
      current, [](const auto& entry) { return entry.second.cause == kProgram; });
  Memberships members(view);
  ProcessOwners owners(view);
  for (const auto& [key, group] : current)
    found.push_back(describe_xid(view, group, members, owners, programs > 1));
  // If it also happened in the job, the finding of the job covers it.
  for (const auto& [key, group] : past)
    if (!current.contains(key)) found.push_back(describe_xid(view, group, members, owners));
  tell_who_was_lost_together(view, found);
  spare_what_was_outlived(view, found);
  tell_past_offences(view, found);
  return found;
}

}  // namespace faultline
