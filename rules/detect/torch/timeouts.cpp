#include "rules/detect/torch/timeouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <tuple>

#include "rules/detect/rank_behind.h"
#include "rules/knowledge/signatures.h"
#include "rules/picture/calls/stacks.h"

namespace faultline {
namespace {

constexpr double kByNumbers = 0.85;  // its own count says that it never enqueued the call
constexpr double kAtEarlierCall = 0.65;
constexpr double kTold = 0.7;         // it was told of the time-out, and had none of its own
constexpr double kToldPerhaps = 0.6;  // the lines do not say which group it is
constexpr double kSilent = 0.55;      // it said nothing at all
constexpr double kCircle = 0.4;
constexpr double kDiffers = 0.8;
constexpr double kDiffersPerhaps = 0.6;  // if it is one group
constexpr double kStalled = 0.6;
constexpr double kTimedOut = 0.5;
constexpr std::size_t kMostLines = 4;

bool is_point_to_point(const std::string& operation) {
  return operation == "SEND" || operation == "RECV" || operation == "RECVANYSOURCE" ||
         operation == "COALESCED";
}

// Of these, ranks may pass different sizes.
bool is_symmetric(const std::string& operation) {
  return operation == "ALLREDUCE" || operation == "_ALLGATHER_BASE" ||
         operation == "_REDUCE_SCATTER_BASE" || operation == "BROADCAST" || operation == "REDUCE";
}

struct Wait {
  int rank = -1;
  const TorchTimeout* timeout = nullptr;

  std::uint64_t sequence() const { return timeout->timeout.sequence.value_or(0); }
  const std::string& operation() const { return timeout->timeout.operation; }
};

// A group, as those that time out in it tell of it.
struct Stuck {
  std::string group;  // its name; empty: the lines do not say
  std::string description;
  bool local = false;          // a number that means another group elsewhere
  bool whole_job = false;      // all ranks belong to it, as far as is known
  std::vector<Wait> waits;     // one of each rank, its first
  std::uint64_t sequence = 0;  // that most wait in
  std::string operation;
  std::set<int> waiting;  // there
  std::set<int> behind;
  std::set<int> differing;               // called something else there
  std::optional<std::string> undecided;  // two calls, as many ranks in each
  double confidence = 0;
  std::vector<LineRef> lines;  // of those behind

  std::string name() const {
    if (!description.empty()) return description;
    return group.empty() ? std::string() : "group " + group;
  }
  std::string call() const { return fmt::format("{} {}", operation, sequence); }
};

// Of whom a line that was cut says that they wait, and not in what.
std::set<int> waiting_somewhere(const View& view, const TorchCrew& crew) {
  std::set<int> ranks;
  for (const TorchRank* rank : crew.ranks())
    for (const TorchSaying& saying : rank->said) {
      if (rank->rank < 0 || saying.exception) continue;
      const auto match =
          view.catalog.signatures->match(Remark{.dialect = "torch", .text = saying.text});
      if (match && match->signature->cause == "collective.timeout") ranks.insert(rank->rank);
    }
  return ranks;
}

std::vector<Stuck> stuck_groups(const TorchCrew& crew) {
  std::map<std::pair<std::string, bool>, Stuck> by_group;
  for (const TorchRank* rank : crew.ranks()) {
    std::set<std::pair<std::string, bool>> seen;
    for (const TorchTimeout& timeout : rank->timeouts) {
      if (!timeout.timeout.sequence || !crew.in_attempt(timeout.line)) continue;
      const TorchGroup& group = timeout.timeout.group;
      const bool local = group.name.empty() && group.id > 0;
      const std::pair key(local ? fmt::format("#{}", group.id) : group.name,
                          is_point_to_point(timeout.timeout.operation));
      if (!seen.insert(key).second) continue;
      Stuck& stuck = by_group[key];
      stuck.group = group.name;
      stuck.local = local;
      if (!group.description.empty()) stuck.description = group.description;
      stuck.waits.push_back({rank->rank, &timeout});
    }
  }
  std::vector<Stuck> all;
  for (auto& [key, stuck] : by_group) {
    stuck.whole_job = (stuck.group.empty() && !stuck.local) || stuck.group == "0" ||
                      stuck.description == "default_pg";
    all.push_back(std::move(stuck));
  }
  return all;
}

void find_where(Stuck& stuck) {
  std::map<std::uint64_t, std::size_t> at;
  for (const Wait& wait : stuck.waits) ++at[wait.sequence()];
  std::size_t most = 0;
  for (const auto& [sequence, count] : at)
    if (count > most) {
      most = count;
      stuck.sequence = sequence;
    }
  std::map<std::string, std::set<int>> by_call;
  for (const Wait& wait : stuck.waits) {
    if (wait.sequence() != stuck.sequence) continue;
    if (wait.rank >= 0) stuck.waiting.insert(wait.rank);
    std::string call = wait.operation();
    if (const auto& in = wait.timeout->timeout.numel_in; in && is_symmetric(call))
      call += fmt::format(" of {} elements", *in);
    by_call[call].insert(wait.rank);
  }
  const auto usual =
      std::ranges::max_element(by_call, {}, [](const auto& entry) { return entry.second.size(); });
  for (const Wait& wait : stuck.waits)
    if (usual->second.contains(wait.rank)) stuck.operation = wait.operation();
  if (by_call.size() < 2 || stuck.local || is_point_to_point(stuck.operation)) return;
  // Without a name it may be several groups that happen to stand at the same number.
  const std::size_t others = stuck.waiting.size() - usual->second.size();
  if (stuck.group.empty() && stuck.waiting.size() > 2 && (others > 1 || usual->second.size() < 3))
    return;
  std::vector<std::string> texts;
  for (const auto& [call, ranks] : by_call) {
    texts.push_back(call);
    if (&ranks != &usual->second) stuck.differing.insert(ranks.begin(), ranks.end());
  }
  stuck.undecided = fmt::format("{}", fmt::join(texts, " and "));
  if (stuck.differing.size() >= usual->second.size()) stuck.differing = stuck.waiting;
}

// Ranks that stand before the call the others wait in.
void find_behind(const TorchCrew& crew, const std::set<int>& somewhere, Stuck& stuck) {
  if (stuck.local || is_point_to_point(stuck.operation) || !stuck.differing.empty() ||
      stuck.waiting.empty())
    return;
  std::set<int> by_numbers;
  std::set<int> at_earlier;
  std::set<int> told;
  std::set<int> silent;
  std::map<int, LineRef> lines;
  const auto sequence =
      static_cast<std::int64_t>(std::min<std::uint64_t>(stuck.sequence, std::uint64_t{INT64_MAX}));
  std::map<int, const Wait*> wait_of;
  for (const Wait& wait : stuck.waits) wait_of.emplace(wait.rank, &wait);
  std::set<int> heard;
  for (const TorchRank* rank : crew.ranks()) {
    if (rank->rank < 0) continue;
    heard.insert(rank->rank);
    if (stuck.waiting.contains(rank->rank)) continue;
    if (const auto wait = wait_of.find(rank->rank); wait != wait_of.end()) {
      if (wait->second->sequence() < stuck.sequence) {
        at_earlier.insert(rank->rank);
        lines[rank->rank] = wait->second->timeout->line;
      }
      continue;
    }
    const auto standing = rank->standings.find(stuck.group);
    if (standing != rank->standings.end() && standing->second.enqueued) {
      if (*standing->second.enqueued < sequence) {
        by_numbers.insert(rank->rank);
        lines[rank->rank] = standing->second.line;
      }
      continue;
    }
    if (!stuck.whole_job || somewhere.contains(rank->rank)) continue;
    (rank->signalled ? told : silent).insert(rank->rank);
    if (rank->signalled) lines[rank->rank] = *rank->signalled;
  }
  if (stuck.whole_job)
    for (const int rank : crew.world())
      if (!heard.contains(rank) && !stuck.waiting.contains(rank) && crew.would_be_heard(rank))
        silent.insert(rank);

  // Absence says little where only some of the logs are there.
  std::set<int> absent = told;
  absent.insert(silent.begin(), silent.end());
  const bool absence_counts =
      stuck.waiting.size() >= 2 && absent.size() * 2 < stuck.waiting.size() + 1;
  if (!by_numbers.empty() && by_numbers.size() <= std::max<std::size_t>(1, stuck.waiting.size())) {
    stuck.behind = by_numbers;
    stuck.confidence = kByNumbers;
  } else if (!at_earlier.empty() && at_earlier.size() < stuck.waiting.size()) {
    stuck.behind = at_earlier;
    stuck.confidence = kAtEarlierCall;
  } else if (absence_counts && !absent.empty()) {
    stuck.behind = absent;
    stuck.confidence = !silent.empty() ? kSilent : stuck.group.empty() ? kToldPerhaps : kTold;
  }
  for (const int rank : stuck.behind)
    if (lines.contains(rank)) stuck.lines.push_back(lines[rank]);
}

// Groups are nested: who is missed in one may wait in another.
std::set<int> origins_of(const std::vector<Stuck>& all, const Stuck& stuck, bool& circular) {
  std::set<int> origins = stuck.behind;
  for (const Stuck& other : all)
    if (&other != &stuck)
      for (const int rank : other.waiting) origins.erase(rank);
  circular = origins.empty() && !stuck.behind.empty();
  return origins;
}

void add_waiters(const View& view, const Stuck& stuck, Finding& finding) {
  for (const Wait& wait : stuck.waits)
    if (finding.evidence.size() < kMostLines && wait.sequence() == stuck.sequence)
      finding.evidence.push_back(view.evidence(wait.timeout->line));
}

// What one of them does, if somebody dumped its stack.
std::optional<StandingByStack> stack_of(const View& view, const std::set<int>& ranks) {
  for (const StandingByStack& standing : standings_by_stack(view))
    if (ranks.contains(standing.rank) && standing.wait() == StackWait::nothing) return standing;
  return std::nullopt;
}

// NCCL's lines may tell of the same rank: then it is one finding.
void speak_as(const std::vector<Suspicion>& known, Finding& finding) {
  for (const Suspicion& suspicion : known)
    if (suspicion.finding.subject.ranks == finding.subject.ranks)
      finding.subject = suspicion.finding.subject;
}

Suspicion describe_behind(const View& view, const TorchCrew& crew, const Stuck& stuck,
                          const std::set<int>& origins, const std::vector<Suspicion>& known) {
  Suspicion suspicion;
  suspicion.stops_job = true;
  suspicion.verdict = Verdict::hang;
  Finding& finding = suspicion.finding;
  finding.cause = "collective.rank_behind";
  const std::string where = stuck.name();
  finding.title =
      fmt::format("{} never entered {}{}{}, in which {} {}", crew.people(origins), stuck.call(),
                  where.empty() ? "" : " of ", where, stuck.waiting.size(),
                  stuck.waiting.size() == 1 ? "rank timed out" : "ranks timed out");
  finding.severity = Severity::critical;
  finding.confidence = stuck.confidence;
  for (const TorchRank* rank : crew.ranks())
    if (origins.contains(rank->rank) && rank->stuck) {
      finding.title += rank->gil ? "; Python's lock is held there"
                                 : "; its watchdog is stuck in a call of CUDA or NCCL";
      finding.evidence.push_back(view.evidence(*rank->stuck));
      break;
    }
  if (const auto standing = stack_of(view, origins)) {
    finding.title += fmt::format("; it {}", standing->text());
    finding.evidence.push_back(view.evidence(standing->stack->line));
  }
  for (const LineRef& line : stuck.lines)
    if (finding.evidence.size() < kMostLines) finding.evidence.push_back(view.evidence(line));
  for (const Wait& wait : stuck.waits)
    if (stuck.waiting.contains(wait.rank)) {
      finding.evidence.push_back(view.evidence(wait.timeout->line));
      suspicion.since = wait.timeout->line.time;
      break;
    }
  finding.subject = crew.subject_of(origins);
  speak_as(known, finding);
  finding.actions.push_back(
      {"See where the rank stands: a data loader, a checkpoint, another branch, an exception that "
       "was "
       "caught.",
       finding.subject.hosts.empty() ? "" : finding.subject.hosts.front(),
       "py-spy dump --pid <pid>"});
  return suspicion;
}

Suspicion describe_difference(const View& view, const TorchCrew& crew, const Stuck& stuck) {
  Suspicion suspicion;
  suspicion.verdict = Verdict::hang;
  Finding& finding = suspicion.finding;
  const bool decided = stuck.differing != stuck.waiting;
  finding.cause = "software.collective_mismatch";
  finding.title = decided
                      ? fmt::format("{} called something else than the others as number {}: {}",
                                    crew.people(stuck.differing), stuck.sequence, *stuck.undecided)
                      : fmt::format("Ranks called different things as number {}: {}",
                                    stuck.sequence, *stuck.undecided);
  finding.severity = Severity::critical;
  finding.confidence = !decided ? kTimedOut : stuck.group.empty() ? kDiffersPerhaps : kDiffers;
  finding.subject = crew.subject_of(stuck.differing);
  add_waiters(view, stuck, finding);
  for (const Wait& wait : stuck.waits)
    if (stuck.differing.contains(wait.rank) && finding.evidence.size() < kMostLines + 2)
      finding.evidence.push_back(view.evidence(wait.timeout->line));
  suspicion.since = stuck.waits.front().timeout->line.time;
  return suspicion;
}

bool nobody_is_missing(const TorchCrew& crew, const Stuck& stuck) {
  return crew.expected() > 1 && stuck.whole_job &&
         stuck.waiting.size() == static_cast<std::size_t>(crew.expected());
}

Suspicion describe_stall(const View& view, const Stuck& stuck) {
  Suspicion suspicion;
  suspicion.stops_job = true;
  suspicion.verdict = Verdict::hang;
  suspicion.since = stuck.waits.front().timeout->line.time;
  Finding& finding = suspicion.finding;
  finding.cause = "collective.stalled";
  finding.title =
      fmt::format("All {} ranks entered {}{}{}, and none came out of it", stuck.waiting.size(),
                  stuck.call(), stuck.name().empty() ? "" : " of ", stuck.name());
  finding.severity = Severity::critical;
  finding.confidence = kStalled;
  if (!stuck.group.empty()) finding.subject.communicators = {stuck.name()};
  add_waiters(view, stuck, finding);
  return suspicion;
}

// The group that began to wait first; the others may wait behind it.
const Stuck& first_stuck(const std::vector<Stuck>& all) {
  const auto begin = [](const Stuck& stuck) {
    std::int64_t first = INT64_MAX;
    for (const Wait& wait : stuck.waits)
      first = std::min(first, called_at(*wait.timeout).wall_us.value_or(INT64_MAX));
    return first;
  };
  return *std::ranges::min_element(all, {}, begin);
}

Suspicion describe_timeout(const View& view, const TorchCrew& crew, const std::vector<Stuck>& all) {
  const Stuck& stuck = first_stuck(all);
  std::set<int> reporters;
  std::optional<std::int64_t> start;
  const Wait* first = nullptr;
  for (const Stuck& each : all)
    for (const Wait& wait : each.waits) {
      reporters.insert(wait.rank);
      if (const auto began = called_at(*wait.timeout).wall_us)
        start = std::min(start.value_or(*began), *began);
      if (first == nullptr ||
          order_of(wait.timeout->line.time, first->timeout->line.time, false) == Order::before)
        first = &wait;
    }
  if (reporters.size() > 1) reporters.erase(-1);
  std::set<int> told;
  for (const TorchRank* rank : crew.ranks())
    if (rank->signalled && !reporters.contains(rank->rank)) told.insert(rank->rank);
  for (const TorchRank* rank : crew.ranks())
    if (rank->told_by >= 0) {
      reporters.insert(rank->told_by);
      told.erase(rank->told_by);
    }

  Suspicion suspicion;
  suspicion.stops_job = true;
  suspicion.verdict = Verdict::hang;
  suspicion.since = first->timeout->line.time;
  Finding& finding = suspicion.finding;
  finding.cause = "collective.timeout";
  finding.title = fmt::format("{} timed out in {}{}{}", crew.people(reporters), stuck.call(),
                              stuck.name().empty() ? "" : " of ", stuck.name());
  if (start) {
    const Timestamp began{std::chrono::microseconds(*start)};
    finding.title += fmt::format(", waiting since {}", to_rfc3339(began));
    finding.first_seen = began;
  }
  if (!told.empty())
    finding.title +=
        fmt::format("; {} told by them",
                    fmt::format("{} {}", crew.people(told), told.size() == 1 ? "was" : "were"));
  finding.severity = Severity::critical;
  finding.confidence = kTimedOut;
  finding.count = reporters.size();
  if (!stuck.group.empty()) finding.subject.communicators = {stuck.name()};
  finding.evidence.push_back(view.evidence(first->timeout->line));
  add_waiters(view, stuck, finding);
  if (finding.evidence.size() > 1 && finding.evidence[1] == finding.evidence[0])
    finding.evidence.erase(finding.evidence.begin() + 1);
  return suspicion;
}

// Dumps of all who wait say all that their lines say, and more.
bool dumps_tell(const View& view, const std::vector<Stuck>& all) {
  const Flight& flight = view.job.flight();
  if (flight.dumps().empty()) return false;
  const auto latest = flight.latest();
  return std::ranges::all_of(all, [&](const Stuck& stuck) {
    return std::ranges::all_of(stuck.waiting, [&](int rank) {
      const auto known = latest.find(rank);
      return known != latest.end() && flight.dumps()[known->second].about.has_entries;
    });
  });
}

// Everybody else timed out somewhere: who reports none is who they wait for, whichever the group.
std::optional<Suspicion> find_free(const View& view, const TorchCrew& crew,
                                   const std::set<int>& somewhere, const std::vector<Stuck>& all) {
  constexpr std::size_t kFew = 4;  // times as many time out
  std::set<int> timed_out;
  for (const Stuck& stuck : all)
    for (const Wait& wait : stuck.waits) timed_out.insert(wait.rank);
  timed_out.insert(somewhere.begin(), somewhere.end());
  if (timed_out.contains(-1)) return std::nullopt;
  std::set<int> free;
  std::ranges::set_difference(crew.world(), timed_out, std::inserter(free, free.end()));
  // It may be one of those whose logs are not here.
  if (!std::ranges::all_of(free, [&](int rank) { return crew.would_be_heard(rank); }))
    return std::nullopt;
  if (free.empty() || timed_out.size() < 3 ||
      (free.size() > 1 && free.size() * kFew > timed_out.size()))
    return std::nullopt;
  std::optional<LineRef> told;
  std::size_t told_ranks = 0;
  for (const TorchRank* rank : crew.ranks())
    if (free.contains(rank->rank) && rank->signalled) {
      if (!told) told = rank->signalled;
      ++told_ranks;
    }
  const Stuck& first = first_stuck(all);
  Suspicion suspicion;
  suspicion.stops_job = true;
  suspicion.verdict = Verdict::hang;
  suspicion.since = first.waits.front().timeout->line.time;
  Finding& finding = suspicion.finding;
  finding.cause = "collective.rank_behind";
  finding.title = fmt::format(
      "{} {}, where all {} others timed out: they wait for {}", crew.people(free),
      told_ranks == free.size() ? "timed out in nothing and was only told of it" : "said nothing",
      timed_out.size(), free.size() == 1 ? "it" : "them");
  finding.severity = Severity::critical;
  finding.confidence = told_ranks == free.size() ? kTold : kSilent;
  finding.subject = crew.subject_of(free);
  if (told) finding.evidence.push_back(view.evidence(*told));
  add_waiters(view, first, finding);
  finding.actions.push_back(
      {"See where the rank stands: a data loader, a checkpoint, another branch, an exception that "
       "was caught.",
       finding.subject.hosts.empty() ? "" : finding.subject.hosts.front(),
       "py-spy dump --pid <pid>"});
  return suspicion;
}

// A time-out that was only told of: the log of who had it is not here.
std::vector<Suspicion> only_told(const View& view, const TorchCrew& crew) {
  std::set<int> told;
  std::set<int> by;
  const TorchRank* first = nullptr;
  for (const TorchRank* rank : crew.ranks()) {
    if (!rank->signalled || !crew.in_attempt(*rank->signalled)) continue;
    if (first == nullptr) first = rank;
    told.insert(rank->rank);
    if (rank->told_by >= 0) by.insert(rank->told_by);
  }
  if (first == nullptr) return {};
  Suspicion suspicion;
  suspicion.stops_job = true;
  suspicion.verdict = Verdict::hang;
  suspicion.since = first->signalled->time;
  Finding& finding = suspicion.finding;
  finding.cause = "collective.timeout";
  finding.title = by.empty() ? fmt::format("{} learned of a time-out elsewhere", crew.people(told))
                             : fmt::format("{} timed out in a collective; {} learned of it",
                                           crew.people(by), crew.people(told));
  finding.severity = Severity::critical;
  finding.confidence = kTimedOut;
  finding.evidence.push_back(view.evidence(*first->signalled));
  return {std::move(suspicion)};
}

}  // namespace

std::vector<Suspicion> find_torch_timeouts(const View& view, const TorchCrew& crew) {
  std::vector<Stuck> all = stuck_groups(crew);
  if (all.empty()) return only_told(view, crew);
  const std::set<int> somewhere = waiting_somewhere(view, crew);
  for (Stuck& stuck : all) {
    find_where(stuck);
    find_behind(crew, somewhere, stuck);
  }
  const std::vector<Suspicion> known =
      view.alignments.empty() ? std::vector<Suspicion>{} : find_ranks_behind(view);
  std::vector<Suspicion> found;
  if (dumps_tell(view, all)) return {describe_timeout(view, crew, all)};
  bool decided = false;
  for (Stuck& stuck : all) {
    if (!stuck.differing.empty()) {
      found.push_back(describe_difference(view, crew, stuck));
      decided = true;
    }
    bool circular = false;
    std::set<int> origins = origins_of(all, stuck, circular);
    if (circular) {
      // Several who wait elsewhere: which of them it began with is not told.
      if (stuck.behind.size() == 1) origins = stuck.behind;
      stuck.confidence = std::min(stuck.confidence, kCircle);
    }
    if (!origins.empty()) {
      found.push_back(describe_behind(view, crew, stuck, origins, known));
      decided = true;
    }
    if (stuck.differing.empty() && nobody_is_missing(crew, stuck))
      found.push_back(describe_stall(view, stuck));
  }
  if (!decided)
    if (auto free = find_free(view, crew, somewhere, all)) found.push_back(*std::move(free));
  found.push_back(describe_timeout(view, crew, all));
  return found;
}

}  // namespace faultline
