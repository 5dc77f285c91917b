#include "rules/detect/sxid.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "rules/detect/past_offences.h"
#include "rules/detect/placed.h"
#include "rules/knowledge/advice.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/prose.h"
#include "rules/picture/read/xids_by_place.h"
#include "rules/picture/when/resets.h"

namespace faultline {
namespace {

constexpr std::size_t kMostCodes = 6;

constexpr int kThermalStart = 10004;
constexpr int kThermalEnd = 10005;
constexpr int kThermalShutdown = 10006;
constexpr std::int64_t kSameSecondsUs = 2'000'000;

struct ReadSxid {
  const SwitchIncident* incident = nullptr;
  const XidMeaning* meaning = nullptr;
  Severity severity = Severity::error;
  std::string impact;
  EventTime first;
  EventTime last;

  bool harmless() const {
    return impact == "none" || severity == Severity::info ||
           (impact == "varies" && severity <= Severity::warning);
  }
};

struct SxidGroup {
  std::string host;
  Cause cause = Cause::none;
  std::vector<ReadSxid> errors;

  // The switches work, and refuse what the settings of the fabric manager do not allow.
  bool is_of_settings() const {
    return std::ranges::all_of(errors, [](const ReadSxid& error) {
      return error.meaning->action.find("[CHECK_FM_CONFIG]") != std::string::npos;
    });
  }
};

ReadSxid read(const View& view, const SwitchIncident& incident, const XidMeaning& meaning) {
  ReadSxid error{.incident = &incident,
                 .meaning = &meaning,
                 .severity = meaning.severity,
                 .impact = meaning.impact,
                 .first = view.job.dated(incident.first),
                 .last = view.job.dated(incident.last)};
  // If the driver decides at the time of printing what is fatal, its word counts; otherwise the
  // catalog knows better.
  if (meaning.printed == "either" && incident.printed == "Non-fatal" &&
      error.severity > Severity::warning) {
    error.severity = Severity::warning;
    error.impact = "varies";
  }
  return error;
}

BootOfLog boot_of_error(const SwitchIncident& incident) {
  return {incident.source, incident.spoken_host, incident.boot};
}

const XidMeaning* meaning_of(const Catalog& catalog, const SwitchIncident& incident) {
  const bool shuts_down =
      incident.code == kThermalStart && incident.detail.find("Shutting Down") != std::string::npos;
  const XidMeaning* meaning = catalog.sxid(shuts_down ? kThermalShutdown : incident.code);
  return meaning == nullptr || meaning->cause == Cause::none ? nullptr : meaning;
}

bool is_worse(const ReadSxid& a, const ReadSxid& b) {
  if (a.severity != b.severity) return a.severity > b.severity;
  return order_of(a.first, b.first, true) == Order::before;
}

Verdict verdict_of(const ReadSxid& error) {
  if (error.harmless()) return Verdict::healthy;
  return error.impact == "degrades" ? Verdict::slow : Verdict::failed;
}

// A fatal error of a port reaches the GPU at its other end as an Xid 74, whose line may come first.
EventTime since_of(const View& view, const SxidGroup& group) {
  const ReadSxid* earliest = &group.errors.front();
  for (const ReadSxid& error : group.errors)
    if (order_of(error.first, earliest->first, true) == Order::before) earliest = &error;
  EventTime since = earliest->first;
  for (const auto& [xid, time] : view.xids().of(boot_of_error(*earliest->incident)).links) {
    const bool uptimes = time.uptime_us && since.uptime_us;
    const bool walls = time.wall_us && since.wall_us;
    if (!uptimes && !walls) continue;
    const std::int64_t ahead =
        uptimes ? *since.uptime_us - *time.uptime_us : *since.wall_us - *time.wall_us;
    if (ahead > 0 && ahead <= kSameSecondsUs) since = time;
  }
  return since;
}

// The switch grew hot, and cooled down again.
bool sxid_is_over(const SxidGroup& group) {
  const auto code = [&](int wanted) {
    return std::ranges::find(group.errors, wanted,
                             [](const ReadSxid& e) { return e.meaning->code; });
  };
  const auto start = code(kThermalStart);
  const auto end = code(kThermalEnd);
  return group.cause == Cause::gpu_thermal && code(kThermalShutdown) == group.errors.end() &&
         start != group.errors.end() && end != group.errors.end() &&
         order_of(start->last, end->last, true) == Order::before;
}

std::string where_of(const SwitchIncident& incident) {
  if (incident.links.empty()) return incident.nvswitch;
  return fmt::format("{}, link{} {}", incident.nvswitch, incident.links.size() == 1 ? "" : "s",
                     fmt::join(incident.links, ", "));
}

std::string title_of_sxid(const SxidGroup& group, const ReadSxid& main) {
  std::set<int> codes;
  std::set<std::string> switches;
  for (const ReadSxid& error : group.errors) {
    if (codes.size() < kMostCodes) codes.insert(error.meaning->code);
    switches.insert(error.incident->nvswitch);
  }
  const std::string host = host_in_words(group.host);
  const std::string text = main.incident->teller == "driver" && !main.incident->detail.empty()
                               ? ": " + main.incident->detail
                               : std::string();
  const std::string where = switches.size() == 1
                                ? "switch " + where_of(*main.incident)
                                : fmt::format("{} switches, first {}", switches.size(),
                                              where_of(*group.errors.front().incident));
  if (group.cause == Cause::gpu_thermal)
    return fmt::format("An NVSwitch of {} is limited by heat (SXid {} of {}{})", host,
                       fmt::join(codes, ", "), where, text);
  const std::string what =
      main.harmless() ? fmt::format("NVSwitches of {} reported errors they survived", host)
      : group.is_of_settings()
          ? fmt::format(
                "NVSwitches of {} refuse what GPUs send: the partitions of the fabric "
                "manager do not allow it",
                host)
          : fmt::format("The NVSwitch fabric of {} failed", host);
  return fmt::format("{} (SXid {} of {}{})", what, fmt::join(codes, ", "), where, text);
}

void add_actions_of_sxid(const View& view, const SxidGroup& group, const ReadSxid& main,
                         Finding& finding) {
  const std::string host = finding.subject.hosts.empty() ? "" : finding.subject.hosts.front();
  if (main.impact == "hang" && main.incident->printed == "Non-fatal")
    finding.actions.push_back({.what = fmt::format("Do not trust the word Non-fatal of SXid {}: {}",
                                                   main.meaning->code, main.meaning->meaning),
                               .where = host});
  std::set<int> told;
  for (const ReadSxid& error : group.errors)
    if (told.size() < kMostLines && told.insert(error.meaning->code).second)
      finding.actions.push_back(
          {.what = fmt::format("SXid {}, NVIDIA: {}.", error.meaning->code, error.meaning->action),
           .where = host});
  if (const Advice* advice = view.catalog.advice_for(finding.cause);
      advice != nullptr && group.cause != Cause::gpu_thermal && !main.harmless() &&
      !group.is_of_settings())
    for (const Action& action : advice->actions)
      finding.actions.push_back(fill_in(action, AdviceSubject{.host = host}));
  finding.actions.push_back({.what = fmt::format("SXid {}, NVIDIA's next step: {}.",
                                                 main.meaning->code, main.meaning->escalation),
                             .where = host});
}

// GPUs that fell off the bus in the minute before: their links go down, and every switch says so.
// The host need not be known, only that one log reports both.
std::set<std::string> lost_before(const View& view, const SxidGroup& group,
                                  const EventTime& since) {
  constexpr std::int64_t kMinuteUs = 60'000'000;
  std::set<std::string> gpus;
  std::set<BootOfLog> boots;
  for (const ReadSxid& error : group.errors) boots.insert(boot_of_error(*error.incident));
  for (const BootOfLog& boot : boots)
    for (const auto& [xid, time] : view.xids().of(boot).lost) {
      const bool uptimes = time.uptime_us && since.uptime_us;
      if (!uptimes && (!time.wall_us || !since.wall_us)) continue;
      const std::int64_t ahead =
          uptimes ? *since.uptime_us - *time.uptime_us : *since.wall_us - *time.wall_us;
      if (ahead >= 0 && ahead <= kMinuteUs) gpus.insert(gpu_name(group.host, xid->gpu));
    }
  return gpus;
}

std::set<int> ranks_on(const View& view, const std::string& host, bool& on_host) {
  std::set<int> ranks;
  if (host.empty()) return ranks;
  for (const std::size_t index : view.workers.on(host)) {
    on_host = true;
    if (const int rank = view.workers.all[index].rank; rank >= 0) ranks.insert(rank);
  }
  return ranks;
}

Phase phase_of(const View& view, const SxidGroup& group, const std::vector<int>& ranks) {
  std::optional<Phase> shared;
  const Endurance endurance = view.phases.endurance(group.host, ranks);
  for (const ReadSxid& error : group.errors) {
    const SwitchIncident& incident = *error.incident;
    const auto at = [&](const EventTime& time) {
      return view.phases.of({.time = time,
                             .host = group.host,
                             .ranks = &endurance,
                             .log = boot_of(view, incident.spoken_host, incident.first)});
    };
    const Phase phase = incident.upkeep != Upkeep::none ? Phase::maintenance : at(error.last);
    const bool began_before_end = phase == Phase::after && at(error.first) != Phase::after;
    if (began_before_end) return Phase::during;
    shared = std::max(shared.value_or(phase), phase);
  }
  return shared.value_or(Phase::during);
}

// The GPU that somebody reset while all of these errors were reported; empty: none.
std::string reset_at_the_time(const View& view, const SxidGroup& group) {
  std::string gpu;
  for (const ReadSxid& error : group.errors) {
    gpu = reset_near(view, boot_of_error(*error.incident), error.first);
    if (gpu.empty()) return {};
  }
  return gpu;
}

Suspicion describe_sxid(const View& view, SxidGroup group) {
  std::ranges::stable_sort(group.errors, is_worse);
  const ReadSxid main = group.errors.front();
  Suspicion suspicion;
  suspicion.since = since_of(view, group);
  suspicion.verdict = sxid_is_over(group) ? Verdict::healthy : verdict_of(main);
  suspicion.stops_job = main.severity == Severity::critical && main.impact == "hang";
  Finding& finding = suspicion.finding;
  finding.cause = group.cause;
  finding.severity = main.harmless() ? std::min(main.severity, Severity::warning) : main.severity;
  finding.count = 0;
  for (const ReadSxid& error : group.errors) {
    finding.count += error.incident->count;
    if (finding.evidence.size() < kMostLines)
      finding.evidence.push_back(view.evidence(error.incident->first));
    if (const auto time = error.last.wall(); time && time > finding.last_seen)
      finding.last_seen = time;
  }
  bool on_host = false;
  const std::set<int> ranks = ranks_on(view, group.host, on_host);
  finding.subject.ranks = {ranks.begin(), ranks.end()};
  if (!group.host.empty()) finding.subject.hosts = {group.host};
  const std::set<std::string> lost = lost_before(view, group, suspicion.since);
  finding.subject.gpus = {lost.begin(), lost.end()};
  suspicion.sure = Claim::sxid;
  if (view.workers.all.empty())
    suspicion.sure.add(Ground::ranks_unknown);
  else if (group.host.empty())
    suspicion.sure.add(Ground::host_unknown);
  if (main.impact == "varies") suspicion.sure.add(Ground::driver_decides);
  finding.title = title_of_sxid(group, main);
  if (const std::string gpu = reset_at_the_time(view, group); !gpu.empty() && lost.empty()) {
    suspicion.sure.add(Ground::while_reset);
    finding.title += fmt::format(", while GPU {} of the host was reset", gpu);
  }
  add_actions_of_sxid(view, group, main, finding);
  finding.part_of_job = on_host || view.workers.all.empty() || group.host.empty();
  place_in_time(
      view,
      {.phase = phase_of(view, group, finding.subject.ranks), .host = group.host, .tied = on_host},
      suspicion);
  if (suspicion.phase == Phase::maintenance)
    finding.title += main.incident->upkeep == Upkeep::shutdown ? ", while the host was shut down"
                                                               : ", while the driver was reloaded";
  return suspicion;
}

}  // namespace

std::vector<Suspicion> find_sxids(const View& view) {
  using Key = std::tuple<std::string, Cause>;  // host, class
  std::map<Key, SxidGroup> serious;
  std::map<Key, SxidGroup> harmless;
  for (const SwitchIncident& incident : view.job.hardware().switch_errors()) {
    const XidMeaning* meaning = meaning_of(view.catalog, incident);
    if (meaning == nullptr) continue;
    ReadSxid error = read(view, incident, *meaning);
    const std::string host = view.job.host_of(incident.spoken_host, incident.source);
    const bool ends_one = meaning->code == kThermalEnd && serious.contains({host, meaning->cause});
    auto& groups = error.harmless() && !ends_one ? harmless : serious;
    SxidGroup& group = groups[{host, meaning->cause}];
    group.host = host;
    group.cause = meaning->cause;
    group.errors.push_back(std::move(error));
  }
  std::vector<Suspicion> found;
  for (const auto& [key, group] : serious) found.push_back(describe_sxid(view, group));
  for (const auto& [key, group] : harmless)
    if (!serious.contains(key)) found.push_back(describe_sxid(view, group));
  spare_what_was_outlived(view, found);
  tell_past_offences(view, found);
  return found;
}

}  // namespace faultline
