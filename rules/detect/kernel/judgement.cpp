#include "rules/detect/kernel/judgement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "rules/detect/placed.h"
#include "rules/knowledge/advice.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/placeholders.h"
#include "rules/knowledge/prose.h"

namespace faultline {
namespace {

constexpr std::size_t kMostKernelLines = 5;
constexpr std::size_t kFewDisks = 3;

constexpr std::int64_t kSecondUs = 1'000'000;
// RDMA tries again for about half a minute before it gives up.
constexpr std::int64_t kShortOutageUs = 15 * kSecondUs;
constexpr std::int64_t kDisksTogetherUs = 3600 * kSecondUs;  // for disks that fail
// Longest time that a hang may last after its line: nobody starts a job on a host that hangs
// longer.
constexpr std::int64_t kLongestUnsaidUs = 3600 * kSecondUs;

enum class Fate {
  open,
  came_back,  // after a time in which something may have failed
  brief,      // it came back before anything could fail
  too_few,    // too few lines for a storm
};

EventTime later(EventTime time, std::int64_t us) {
  if (time.wall_us) *time.wall_us += us;
  if (time.uptime_us) *time.uptime_us += us;
  return time;
}

// How many of its lines came in the busiest span, of each signature of a group.
class Storms {
 public:
  explicit Storms(const KernelGroup& group) {
    for (const KernelSighting* sighting : group.causes)
      busiest_[sighting->signature] +=
          sighting->text->busiest[static_cast<std::size_t>(sighting->signature->storm.within)].most;
  }

  std::uint64_t busiest(const MessageSignature& signature) const { return busiest_.at(&signature); }

  bool is_enough(const KernelSighting& sighting) const {
    const Storm& storm = sighting.signature->storm;
    return storm.count == 0 || busiest(*sighting.signature) >= storm.count;
  }

 private:
  std::map<const MessageSignature*, std::uint64_t> busiest_;
};

std::string_view word_of(Span span) {
  return span == Span::minute ? "minute" : span == Span::hour ? "hour" : "day";
}

std::string duration(std::int64_t us) {
  const std::int64_t seconds = (us + kSecondUs / 2) / kSecondUs;
  if (seconds < 120) return fmt::format("{} s", seconds);
  return fmt::format("{} min", (seconds + 30) / 60);
}

// "a GPU" where the line names none.
std::string unnamed(std::string_view placeholder) {
  if (placeholder == "host") return host_in_words({});
  if (placeholder == "rank") return "unknown";
  if (placeholder == "device" || placeholder == "netdev") return "a NIC";
  if (placeholder == "process") return "a process";
  if (placeholder == "server") return "a server";
  return "?";
}

constexpr std::string_view kBelow = "what it leads to";

bool says_bridge(const KernelSighting& sighting, std::string_view part) {
  const std::string_view bridge = sighting.field("bridge");
  return !bridge.empty() && part.ends_with(bridge) &&
         sighting.signature->title.find("{bridge}") != std::string::npos;
}

std::string title_of_kernel_group(const KernelPart& part, const KernelSighting& sighting) {
  std::string title;
  take_apart(
      sighting.signature->title, [&](std::string_view plain) { title += plain; },
      [&](std::string_view name) {
        std::string value(sighting.field(name));
        if (name == "host" && !part.subject.hosts.empty()) value = part.subject.hosts.front();
        // "PCIe port X cut off PCIe port X": no line names what the port leads to.
        if (name == "part") value = says_bridge(sighting, part.name) ? kBelow : part.name;
        if (name == "gpu") value = part.gpu;
        if (name == "rank" && part.subject.ranks.size() == 1)
          value = std::to_string(part.subject.ranks.front());
        title += value.empty() ? unnamed(name) : value;
      });
  const bool tells_rank = sighting.signature->title.find("{rank}") != std::string::npos;
  if (part.subject.ranks.size() == 1 && !tells_rank)
    title += fmt::format(" (rank {})", part.subject.ranks.front());
  begin_words_with_a_capital(title);
  return title;
}

// sda1 -> sda, nvme0n1p2 -> nvme0, ata9.00 -> ata9. Empty: the name is of no device by itself, as
// dm-0, md1 and rbd0.
std::string_view device_of(std::string_view disk) {
  constexpr std::string_view kDigits = "0123456789";
  for (const std::string_view kind : {"ata", "nvme"})
    if (disk.starts_with(kind)) return disk.substr(0, disk.find_first_not_of(kDigits, kind.size()));
  if (disk.starts_with("sd")) return disk.substr(0, disk.find_first_of(kDigits));
  const bool is_address = !disk.empty() && kDigits.find(disk.front()) != std::string_view::npos;
  return is_address ? disk : std::string_view();
}

// The most disks of which lines of one signature tell within an hour of one boot.
std::vector<std::string_view> disks_that_failed_together(
    const std::vector<const KernelSighting*>& counting) {
  using Failure = std::pair<std::int64_t, std::string_view>;
  std::map<std::tuple<const MessageSignature*, const KernelLog*, std::size_t>,
           std::map<std::string_view, std::int64_t>>
      first_of;
  const LineRef& origin = counting.front()->first->line;
  for (const KernelSighting* sighting : counting) {
    const std::string_view device = device_of(sighting->field("disk"));
    const auto when = microseconds_between(origin.time, sighting->first->line.time);
    if (device.empty() || !when) continue;
    auto& firsts = first_of[{sighting->signature, sighting->log, sighting->text->boot}];
    const auto [known, is_new] = firsts.try_emplace(device, *when);
    if (!is_new) known->second = std::min(known->second, *when);
  }
  std::vector<std::string_view> together;
  for (const auto& [of_boot, firsts] : first_of) {
    std::vector<Failure> failures;
    for (const auto& [device, when] : firsts) failures.emplace_back(when, device);
    std::ranges::sort(failures);
    std::span<const Failure> most;
    for (std::size_t from = 0, to = 0; to < failures.size(); ++to) {
      while (failures[to].first - failures[from].first > kDisksTogetherUs) ++from;
      if (to - from >= most.size()) most = std::span(failures).subspan(from, to - from + 1);
    }
    if (most.size() <= together.size()) continue;
    together.clear();
    for (const Failure& failure : most) together.push_back(failure.second);
  }
  return together;
}

// All disks of one log of which lines of one signature tell.
std::vector<std::string_view> disks_that_failed_alike(
    const std::vector<const KernelSighting*>& counting) {
  std::map<std::pair<const MessageSignature*, const KernelLog*>, std::set<std::string_view>> of_log;
  for (const KernelSighting* sighting : counting)
    if (const auto device = device_of(sighting->field("disk")); !device.empty())
      of_log[{sighting->signature, sighting->log}].insert(device);
  std::set<std::string_view> most;
  for (auto& [signature, disks] : of_log)
    if (disks.size() > most.size()) most = std::move(disks);
  return {most.begin(), most.end()};
}

struct FailedDisks {
  std::vector<std::string_view> together;
  std::vector<std::string_view> alike;
};

// Disks that fail together, or one after the other in the same way, have something in common that
// failed. by_disk: the finding is about one of them, not about what they share.
void name_disks(const FailedDisks& failed, bool by_disk, const std::string& host,
                Finding& finding) {
  constexpr std::size_t kMostNamed = 8;
  const bool at_once = failed.together.size() >= kFewDisks;
  const std::vector<std::string_view>& disks = at_once ? failed.together : failed.alike;
  if (disks.size() < kFewDisks) return;
  const auto named = std::span(disks).first(std::min(disks.size(), kMostNamed));
  finding.title += fmt::format("; {} disks of the host failed {} ({}{})", disks.size(),
                               at_once ? "within an hour" : "in this way", fmt::join(named, ", "),
                               named.size() < disks.size() ? ", ..." : "");
  if (!by_disk) return;
  finding.actions.insert(
      finding.actions.begin(),
      {.what = at_once ? "Look for what these disks share: a controller, a backplane, a cable, "
                         "power. Disks rarely fail together."
                       : "Look for what these disks share: their model and firmware, a controller "
                         "or PCIe switch, how they save power. Disks rarely fail in the same way.",
       .where = host,
       .command =
           at_once ? "lsblk -S; ls -l /sys/block" : "lsblk -o NAME,MODEL,REV,TRAN; lspci -tv"});
}

// The sighting that says most.
const KernelSighting* spokesman(const Storms& storms,
                                const std::vector<const KernelSighting*>& counting) {
  const KernelSighting* best = nullptr;
  for (const KernelSighting* sighting : counting) {
    const auto weight = [&](const KernelSighting& s) {
      return std::make_tuple(storms.is_enough(s), static_cast<int>(s.signature->severity),
                             s.signature->confidence);
    };
    if (best == nullptr || weight(*sighting) > weight(*best)) best = sighting;
  }
  return best;
}

struct Outage {
  const KernelSaying* end = nullptr;
  std::optional<std::int64_t> lasted_us;
};

// When all of it was over; nullopt: some of it is not.
std::optional<Outage> outage_of(const std::vector<const KernelSighting*>& counting) {
  Outage outage;
  const KernelSaying* begin = nullptr;
  for (const KernelSighting* sighting : counting) {
    if (sighting->recovery == nullptr) return std::nullopt;
    if (outage.end == nullptr || sighting->recovery->order > outage.end->order) {
      outage.end = sighting->recovery;
      begin = sighting->last;
    }
  }
  if (outage.end == nullptr) return std::nullopt;
  outage.lasted_us = microseconds_between(begin->line.time, outage.end->line.time);
  return outage;
}

// When it was, seen from the job. A state lasts beyond the line that reports it.
Phase phase_of(const View& view, const KernelGroup& group,
               const std::vector<const KernelSighting*>& counting, const KernelSaying& first,
               const KernelSaying& last) {
  const KernelSighting& speaker = *counting.front();
  const bool lasts =
      std::ranges::any_of(counting, [](const KernelSighting* s) { return s->signature->lasts; });
  const bool stops = std::ranges::any_of(
      counting, [](const KernelSighting* s) { return s->signature->severity >= Severity::error; });
  // If a boot reports something about the boot before it, that was over by then.
  const bool is_over = std::ranges::all_of(
      counting, [](const KernelSighting* s) { return s->signature->marks == Marks::past_boot; });
  const bool goes_on = lasts && !is_over;
  const Endurance endurance = view.phases.endurance(speaker.host, group.part.subject.ranks);
  const auto phase_at = [&](const EventTime& time) {
    return view.phases.of({.time = time,
                           .host = speaker.host,
                           .ranks = &endurance,
                           .log = boot_of(view, speaker.log->spoken_host, last.line),
                           .lasts = lasts});
  };
  const EventTime ended = view.job.dated(last.line);
  const Phase phase = phase_at(ended);
  if (phase == Phase::before && goes_on)
    return stops ? phase_at(later(ended, kLongestUnsaidUs)) : Phase::during;
  const bool began_before_end =
      phase == Phase::after && (is_over || phase_at(view.job.dated(first.line)) != Phase::after);
  return began_before_end ? Phase::during : phase;
}

Fate fate_of(const KernelGroup& group, const Storms& storms, const KernelSighting& first,
             const std::vector<const KernelSighting*>& counting,
             const std::optional<Outage>& outage) {
  if (std::ranges::none_of(counting, [&](const KernelSighting* s) { return storms.is_enough(*s); }))
    return Fate::too_few;
  if (outage) {
    const bool brief = !outage->lasted_us || *outage->lasted_us < kShortOutageUs;
    // A rank that waits for storage or for its host goes on once it is back; a connection that was
    // given up does not come back.
    const bool gave_up = is_of(first.signature->cause, Family::network) && group.network_failed;
    if (brief || !gave_up) return Fate::brief;
  }
  return outage ? Fate::came_back : Fate::open;
}

void describe_fate(Fate fate, const KernelSighting& speaker, const std::optional<Outage>& outage,
                   Suspicion& suspicion) {
  Finding& finding = suspicion.finding;
  const auto demote = [&](Severity most) {
    suspicion.verdict = Verdict::healthy;
    finding.severity = std::min(finding.severity, most);
  };
  switch (fate) {
    case Fate::open:
      break;
    case Fate::came_back:
      finding.title += fmt::format(", and came back after {}", duration(*outage->lasted_us));
      suspicion.sure.add(Ground::came_back);
      suspicion.needs_effect = true;
      break;
    case Fate::brief:
      finding.title += outage->lasted_us
                           ? fmt::format(", and came back after {}", duration(*outage->lasted_us))
                           : std::string(", and came back");
      demote(Severity::warning);
      break;
    case Fate::too_few:
      finding.title += fmt::format("; fewer than {} are normal", speaker.signature->storm.count);
      demote(Severity::info);
      break;
  }
}

void add_lines_of_kernel_group(const View& view, const KernelGroup& group,
                               const std::vector<const KernelSighting*>& counting,
                               const std::optional<Outage>& outage, Finding& finding) {
  const auto add = [&](const LineRef& line) {
    Evidence evidence = view.evidence(line);
    if (std::ranges::find(finding.evidence, evidence) == finding.evidence.end())
      finding.evidence.push_back(std::move(evidence));
  };
  for (const KernelSighting* sighting : counting)
    if (finding.evidence.size() < kMostKernelLines) add(sighting->first->line);
  for (const KernelSighting* echo : group.echoes)
    if (finding.evidence.size() < kMostKernelLines) add(echo->first->line);
  if (outage) add(outage->end->line);
  if (group.part.tie != nullptr) add(*group.part.tie);
}

// A line that names no cause accuses nobody. But as long as nobody can read it, it does not show
// health either.
Verdict verdict_of(const MessageSignature& signature) {
  const Severity severity = signature.severity;
  if (severity == Severity::info) return Verdict::healthy;
  if (is(signature.cause, Trait::symptom)) return Verdict::unknown;
  return severity == Severity::warning ? Verdict::slow : Verdict::failed;
}

// Of one crash, one line may have the reason and another one the stack. nullptr: no line has it.
const KernelSighting* with_stack_of(const KernelGroup& group, const KernelSighting& speaker) {
  constexpr std::int64_t kOneCrashUs = 60 * kSecondUs;
  constexpr std::uint64_t kOneCrashLines = 100;  // if no line has a time
  if (!speaker.field("module").empty()) return &speaker;
  const KernelSighting* told = group.with_stack();
  if (told == nullptr || told->log != speaker.log || told->text->boot != speaker.text->boot ||
      speaker.signature->cause == Cause::host_storage_stall)
    return nullptr;
  const LineRef& reason = speaker.first->line;
  const LineRef& report = told->first->line;
  const auto passed = microseconds_between(report.time, reason.time);
  const bool is_near = passed ? std::abs(*passed) <= kOneCrashUs
                              : std::max(report.line, reason.line) <=
                                    std::min(report.line, reason.line) + kOneCrashLines;
  return is_near ? told : nullptr;
}

// Whether the part is the process of a rank, or the GPU of a rank that stopped.
bool is_tied(const View& view, const KernelPart& part) {
  if (part.key.starts_with("pid ")) return true;
  if (part.gpu.empty() || part.subject.ranks.empty()) return false;
  return std::ranges::any_of(view.workers.of_rank(part.subject.ranks.front()),
                             [&](std::size_t i) { return view.standstill.of_worker(i); });
}

}  // namespace

const KernelSighting* KernelGroup::with_stack() const {
  const auto found = std::ranges::find_if(
      causes, [](const KernelSighting* s) { return !s->field("module").empty(); });
  return found == causes.end() ? nullptr : *found;
}

std::optional<Suspicion> judge(const View& view, const KernelGroup& group) {
  std::vector<const KernelSighting*> counting;
  for (const KernelSighting* sighting : group.causes)
    if (sighting->counts()) counting.push_back(sighting);
  if (counting.empty()) return std::nullopt;
  const Storms storms(group);
  const KernelSighting& speaker = *spokesman(storms, counting);
  const MessageSignature& signature = *speaker.signature;
  // Sightings that are too few to be a fault do not speak for sightings that are one.
  if (storms.is_enough(speaker))
    std::erase_if(counting, [&](const KernelSighting* s) { return !storms.is_enough(*s); });
  const auto outage = outage_of(counting);

  const KernelSaying* first = counting.front()->first;
  const KernelSaying* last = counting.front()->last;
  std::uint64_t count = 0;
  bool rebooted_since = false;
  for (const KernelSighting* sighting : counting) {
    count += sighting->text->count;
    rebooted_since |= sighting->text->boot < sighting->log->boot;
    if (sighting->log != counting.front()->log) continue;
    if (sighting->first->order < first->order) first = sighting->first;
    if (sighting->last->order > last->order) last = sighting->last;
  }

  const EventTime begun = view.job.dated(first->line);
  const EventTime ended = view.job.dated(last->line);

  Suspicion suspicion;
  // No line says when it was in the boot before.
  if (signature.marks != Marks::past_boot) suspicion.since = begun;
  suspicion.verdict = verdict_of(signature);
  Finding& finding = suspicion.finding;
  finding.cause = signature.cause;
  finding.severity = signature.severity;
  finding.title = title_of_kernel_group(group.part, speaker);
  if (const KernelSighting* told = with_stack_of(group, speaker); told != nullptr)
    finding.title +=
        fmt::format(", in {} of module {}", told->field("function"), told->field("module"));
  suspicion.says_not_why = group.in_driver_of_failed_nic;
  if (signature.storm.count > 0)
    finding.title +=
        fmt::format(": up to {} a {}", storms.busiest(signature), word_of(signature.storm.within));
  finding.subject = group.part.subject;
  finding.count = count;
  finding.last_seen = ended.wall();
  suspicion.sure = {Claim::signature, signature.confidence};
  const FailedDisks disks = finding.cause == Cause::host_storage_stall
                                ? FailedDisks{.together = disks_that_failed_together(counting),
                                              .alike = disks_that_failed_alike(counting)}
                                : FailedDisks();
  // A job may do without one disk. Where none is known, disks that fail together are news enough.
  const bool are_news = disks.together.size() >= kFewDisks && view.workers.all.empty();
  for (const Ground doubt : group.part.doubts)
    if (doubt != Ground::use_unknown || !are_news) suspicion.sure.add(doubt);
  if (rebooted_since && finding.cause != Cause::host_down)
    suspicion.sure.add(Ground::rebooted_since);
  finding.part_of_job = group.part.standing != KernelPart::Standing::bystander;
  if (!finding.part_of_job) finding.title += ", which the job does not use";
  // If no line tells of any rank, only the host is looked at.
  suspicion.needs_effect =
      is(signature.cause, Trait::symptom) ||
      (view.workers.all.empty() ? signature.severity < Severity::error
                                : signature.severity != Severity::critical ||
                                      group.part.standing != KernelPart::Standing::of_the_job);
  // What only slows a job does not stop it.
  suspicion.job_ran_with_it = signature.severity <= Severity::warning;
  describe_fate(fate_of(group, storms, *counting.front(), counting, outage), speaker, outage,
                suspicion);
  place_in_time(view,
                {.phase = phase_of(view, group, counting, *first, *last),
                 .host = speaker.host,
                 .tied = is_tied(view, group.part)},
                suspicion);
  add_lines_of_kernel_group(view, group, counting, outage, finding);
  AdviceSubject about;
  if (!group.part.subject.hosts.empty()) about.host = group.part.subject.hosts.front();
  about.gpu = group.part.gpu;
  if (group.part.subject.ranks.size() == 1) about.rank = group.part.subject.ranks.front();
  about.fields = counting.front()->fields;
  for (const Action& action : signature.actions) finding.actions.push_back(fill_in(action, about));
  name_disks(disks, !speaker.field("disk").empty(), about.host, finding);
  return suspicion;
}

}  // namespace faultline
