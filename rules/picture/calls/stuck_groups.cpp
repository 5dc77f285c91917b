#include "rules/picture/calls/stuck_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "model/path_names.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/prose.h"
#include "rules/knowledge/signatures.h"
#include "rules/picture/calls/told/adapters.h"
#include "rules/picture/read/sayings.h"
#include "rules/picture/when/between.h"
#include "rules/state/sources.h"

namespace faultline {
namespace {

// COALESCED stands for many Sends and Recvs that begin together, and for many AllGathers or
// ReduceScatters. In the latter, one of the input and output sizes is a multiple of the other.
bool gathers_or_scatters(const WatchdogTimeout& timeout) {
  if (!timeout.numel_in || !timeout.numel_out) return false;
  const auto [less, more] = std::minmax(*timeout.numel_in, *timeout.numel_out);
  return less > 0 && more > less && more % less == 0;
}

bool is_point_to_point(const WatchdogTimeout& timeout) {
  const std::string& operation = timeout.operation;
  return operation == "SEND" || operation == "RECV" || operation == "RECVANYSOURCE" ||
         (operation == "COALESCED" && !gathers_or_scatters(timeout));
}

// Operations in which all ranks must pass the same size.
bool is_symmetric(const WatchdogTimeout& timeout) {
  const std::string& operation = timeout.operation;
  if (operation == "COALESCED") return gathers_or_scatters(timeout);
  return operation == "ALLREDUCE" || operation == "_ALLGATHER_BASE" ||
         operation == "_REDUCE_SCATTER_BASE" || operation == "BROADCAST" || operation == "REDUCE";
}

// The way a watchdog ends its process after a timeout.
bool is_abort(const ProcessExit& exit) {
  constexpr int kAbort = 6;
  constexpr int kOfShell = 128;
  return exit.signal == kAbort || exit.exit_code == kOfShell + kAbort;
}

// Ranks that are known to wait, but not in which call: by a line that was cut, or, if their own
// lines are missing, by the way in which they ended.
std::set<int> waiting_somewhere(const View& view, const TorchCrew& crew) {
  std::set<int> ranks;
  for (const TorchLine<ProcessExit>& exit : view.job.torch().exits())
    if (is_abort(exit.fact) && crew.in_attempt(exit.line))
      ranks.insert(exit.fact.ranks.begin(), exit.fact.ranks.end());
  for (const TorchRank* rank : crew.ranks())
    for (const TorchSaying& saying : rank->said) {
      if (rank->rank < 0 || saying.exception) continue;
      const auto match = meaning_of(view, saying);
      if (match && match->signature->cause == Cause::collective_timeout) ranks.insert(rank->rank);
    }
  return ranks;
}

void find_where(StuckGroup& stuck) {
  std::map<std::uint64_t, std::size_t> at;
  for (const TimedOut& wait : stuck.waits) ++at[wait.sequence()];
  stuck.sequence =
      std::ranges::max_element(at, {}, [](const auto& entry) { return entry.second; })->first;
  std::map<std::string, std::size_t> operations;
  for (const TimedOut& wait : stuck.waits) {
    if (wait.sequence() != stuck.sequence) continue;
    if (wait.rank >= 0) stuck.waiting.insert(wait.rank);
    ++operations[wait.operation()];
  }
  stuck.operation = std::ranges::max_element(operations, {}, [](const auto& entry) {
                      return entry.second;
                    })->first;
}

// The ranks that called something else there.
void find_odd(const StuckGroup& stuck, ProgressRow& row) {
  std::map<std::string, std::set<int>> by_call;
  for (const TimedOut& wait : stuck.waits) {
    if (wait.sequence() != stuck.sequence) continue;
    std::string call = wait.operation();
    if (const auto& in = wait.timeout->timeout.numel_in; in && is_symmetric(wait.timeout->timeout))
      call += fmt::format(" of {} elements", *in);
    by_call[call].insert(wait.rank);
  }
  if (by_call.size() < 2 || stuck.local || stuck.point_to_point) return;
  const auto usual =
      std::ranges::max_element(by_call, {}, [](const auto& entry) { return entry.second.size(); });
  // Without a name, these may be several groups that happen to be at the same number.
  const std::size_t others = stuck.waiting.size() - usual->second.size();
  if (stuck.group.empty() && stuck.waiting.size() > 2 && (others > 1 || usual->second.size() < 3))
    return;
  std::vector<std::string> texts;
  for (const auto& [call, ranks] : by_call) {
    texts.push_back(call);
    if (&ranks != &usual->second) row.odd.insert(ranks.begin(), ranks.end());
  }
  const std::string calls = fmt::format("{}", fmt::join(texts, " and "));
  if (row.odd.size() < usual->second.size()) {
    row.differs = {fmt::format("called something else than the others as number {}: {}",
                               stuck.sequence, calls),
                   stuck.group.empty() ? Claim::timeout_differs_perhaps : Claim::timeout_differs};
    return;
  }
  row.odd = stuck.waiting;
  row.differs = {
      fmt::format("Ranks called different things as number {}: {}", stuck.sequence, calls),
      Claim::timeout_only, true};
}

// The ranks of the job, by what is looked up for each group.
class Roster {
 public:
  explicit Roster(const TorchCrew& crew) : crew_(crew) {
    for (std::size_t i = 0; i < crew.ranks().size(); ++i) {
      const TorchRank& rank = *crew.ranks()[i];
      by_number_[rank.rank].push_back(i);
      for (const auto& [group, standing] : rank.standings) by_group_[group].push_back(i);
    }
  }

  // Those that may be late in it, in the order of the crew: of a group that is not the whole job,
  // only ranks with lines about it.
  std::vector<const TorchRank*> may_be_late(const StuckGroup& stuck) const {
    if (stuck.whole_job) return crew_.ranks();
    std::set<std::size_t> some;
    if (const auto known = by_group_.find(stuck.group); known != by_group_.end())
      some.insert(known->second.begin(), known->second.end());
    for (const TimedOut& wait : stuck.waits)
      if (const auto known = by_number_.find(wait.rank); known != by_number_.end())
        some.insert(known->second.begin(), known->second.end());
    return listed(some);
  }

  std::vector<const TorchRank*> numbered(const std::set<int>& numbers) const {
    std::set<std::size_t> some;
    for (const int number : numbers)
      if (const auto known = by_number_.find(number); known != by_number_.end())
        some.insert(known->second.begin(), known->second.end());
    return listed(some);
  }

 private:
  std::vector<const TorchRank*> listed(const std::set<std::size_t>& some) const {
    std::vector<const TorchRank*> all;
    for (const std::size_t i : some) all.push_back(crew_.ranks()[i]);
    return all;
  }

  const TorchCrew& crew_;
  std::map<int, std::vector<std::size_t>> by_number_;
  std::map<std::string, std::vector<std::size_t>> by_group_;
};

// What the rows of all groups are worked out from.
struct Footing {
  const View& view;
  const TorchCrew& torch;
  Roster roster{torch};
  std::set<int> somewhere = waiting_somewhere(view, torch);
};

// Ranks that have not come to the call in which the others wait, by what shows it.
struct Late {
  std::set<int> by_numbers;   // by their own counts
  std::set<int> at_earlier;   // they timed out in an earlier call
  std::set<int> just_before;  // of `at_earlier`: in the call right before it
  std::set<int> told;  // they report no timeout of their own, and were told of another rank's
  std::set<int> silent;
  std::set<int> left;  // of `told` and `silent`, if these count: ranks whose program had ended
  std::map<int, const LineRef*> lines;
  std::map<int, std::string> own_calls;  // of `at_earlier`: in which each of them waits
};

// If the log belongs to this rank alone, more lines after this one show that only a helper ended.
bool goes_on(const View& view, int rank, const LineRef& line) {
  constexpr std::uint64_t kMostLinesAfter = 20;
  const SourceState& log = view.job.sources().at(line.source);
  return rank_by_file_name(log.source.name).rank == rank && log.lines > line.line + kMostLinesAfter;
}

// The line that shows that a rank's program ended; nullptr if any of its lines shows a failure, or
// if it did not end before the others timed out.
const LineRef* end_of_program(const View& view, const TorchCrew& crew, const TorchRank& rank,
                              const StuckGroup& stuck) {
  if (rank.signalled || rank.stuck || !rank.timeouts.empty()) return nullptr;
  const LineRef* end = nullptr;
  for (const TorchSaying& saying : rank.said) {
    const auto match = meaning_of(view, saying);
    if (match && match->signature->marks == Marks::process_ends) {
      if (crew.in_attempt(saying.line) && !goes_on(view, rank.rank, saying.last))
        end = &saying.line;
    } else if (saying.exception || (match && match->signature->weight != Weight::harmless)) {
      return nullptr;
    }
  }
  const auto after_end = [&](const TimedOut& wait) {
    return end != nullptr && said_order(*end, wait.timeout->line) == Order::before;
  };
  return std::ranges::all_of(stuck.waits, after_end) ? end : nullptr;
}

// Ranks that called as often, by NCCL's lines, as those that wait, and as often as the number of
// the call says.
std::set<int> came_by_calls(const View& view, const StuckGroup& stuck) {
  std::set<int> came;
  for (const Alignment& alignment : view.alignments) {
    const auto rank_of = [&](std::size_t i) { return view.worker_of(alignment.members[i]).rank; };
    std::uint64_t most = stuck.sequence;
    std::size_t waiting = 0;
    for (std::size_t i = 0; i < alignment.members.size(); ++i) {
      if (!stuck.waiting.contains(rank_of(i))) continue;
      ++waiting;
      most = std::max(most, alignment.positions[i]);
    }
    if (waiting == 0 || waiting != stuck.waiting.size()) continue;
    for (std::size_t i = 0; i < alignment.members.size(); ++i)
      if (alignment.positions[i] >= most) came.insert(rank_of(i));
  }
  return came;
}

Late late_in(const Footing& crew, const StuckGroup& stuck) {
  Late late;
  const std::set<int> came = stuck.whole_job ? came_by_calls(crew.view, stuck) : std::set<int>();
  const auto sequence =
      static_cast<std::int64_t>(std::min<std::uint64_t>(stuck.sequence, std::uint64_t{INT64_MAX}));
  std::map<int, const TimedOut*> wait_of;
  for (const TimedOut& wait : stuck.waits) wait_of.emplace(wait.rank, &wait);
  std::set<int> heard;
  for (const TorchRank* rank : crew.roster.may_be_late(stuck)) {
    if (rank->rank < 0) continue;
    heard.insert(rank->rank);
    if (stuck.waiting.contains(rank->rank)) continue;
    if (const auto wait = wait_of.find(rank->rank); wait != wait_of.end()) {
      if (wait->second->sequence() < stuck.sequence) {
        late.at_earlier.insert(rank->rank);
        if (wait->second->sequence() + 1 == stuck.sequence) late.just_before.insert(rank->rank);
        late.lines[rank->rank] = &wait->second->timeout->line;
        late.own_calls[rank->rank] =
            fmt::format("{} {}", wait->second->operation(), wait->second->sequence());
      }
      continue;
    }
    const auto standing = rank->standings.find(stuck.group);
    if (standing != rank->standings.end() && standing->second.enqueued) {
      if (*standing->second.enqueued < sequence) {
        late.by_numbers.insert(rank->rank);
        late.lines[rank->rank] = &standing->second.line;
      }
      continue;
    }
    if (!stuck.whole_job || crew.somewhere.contains(rank->rank) || came.contains(rank->rank))
      continue;
    (rank->signalled ? late.told : late.silent).insert(rank->rank);
    if (rank->signalled) late.lines[rank->rank] = &*rank->signalled;
  }
  if (stuck.whole_job)
    for (const int rank : crew.torch.world())
      if (!heard.contains(rank) && !stuck.waiting.contains(rank) &&
          !crew.somewhere.contains(rank) && crew.torch.would_be_heard(rank) && !came.contains(rank))
        late.silent.insert(rank);
  return late;
}

// Of the absent ranks, those whose program had ended. If too many are absent, none is examined:
// each has to be compared with each rank that waits.
void find_left(const Footing& crew, const StuckGroup& stuck, const std::set<int>& absent,
               Late& late) {
  constexpr std::size_t kMostAbsent = 2048;
  if (absent.size() > kMostAbsent) return;
  for (const TorchRank* rank : crew.roster.numbered(absent))
    if (const LineRef* end = end_of_program(crew.view, crew.torch, *rank, stuck)) {
      late.left.insert(rank->rank);
      late.lines[rank->rank] = end;
    }
}

// Whether the ranks that wait finished the call in which the late ranks gave up. Without a name of
// the group they may be calls of two groups; long before, the call may be of an earlier attempt.
bool finished_what_it_waits_in(const StuckGroup& stuck, const Late& late) {
  constexpr std::int64_t kTogetherUs = 600'000'000;
  const auto peer = std::ranges::find_if(
      stuck.waits, [&](const TimedOut& wait) { return stuck.waiting.contains(wait.rank); });
  if (stuck.group.empty() || peer == stuck.waits.end()) return false;
  return std::ranges::all_of(late.at_earlier, [&](int rank) {
    const auto passed = microseconds_between(late.lines.at(rank)->time, peer->timeout->line.time);
    return !passed || *passed <= kTogetherUs;
  });
}

void find_behind(const Footing& crew, const StuckGroup& stuck, ProgressRow& row) {
  if (stuck.local || stuck.point_to_point || stuck.waiting.empty()) return;
  Late late = late_in(crew, stuck);
  // Absence means little if only some of the logs are here.
  std::set<int> absent = late.told;
  absent.insert(late.silent.begin(), late.silent.end());
  const bool absence_counts =
      stuck.waiting.size() >= 2 && absent.size() * 2 < stuck.waiting.size() + 1;
  if (absence_counts) find_left(crew, stuck, absent, late);
  // A rank that stops inside a call lets some peers finish it; these wait in the next call.
  const bool may_have_stopped_midway =
      absence_counts && !late.silent.empty() && late.just_before.size() == late.at_earlier.size();
  std::set<int> behind;
  Claim claim = Claim::timeout_by_numbers;
  // If several ranks are absent, the ones whose program had ended are the origin.
  if (absence_counts && !late.left.empty() && late.by_numbers.empty()) {
    behind = late.left;
    claim = Claim::timeout_left;
    row.is_leave = true;
  } else if (!late.by_numbers.empty() &&
             late.by_numbers.size() <= std::max<std::size_t>(1, stuck.waiting.size())) {
    behind = late.by_numbers;
  } else if (!late.at_earlier.empty() && late.at_earlier.size() < stuck.waiting.size() &&
             !may_have_stopped_midway) {
    behind = late.at_earlier;
    claim = Claim::timeout_at_earlier_call;
    row.is_held = finished_what_it_waits_in(stuck, late);
  } else if (absence_counts && !absent.empty()) {
    behind = absent;
    claim = !late.silent.empty()  ? Claim::timeout_silent
            : stuck.group.empty() ? Claim::timeout_told_perhaps
                                  : Claim::timeout_told;
  } else if (!late.by_numbers.empty() &&
             late.by_numbers.size() + stuck.waiting.size() == crew.torch.world().size()) {
    behind = late.by_numbers;  // these are most ranks, so the waiting ones are ahead
    row.ahead = {fmt::format("timed out in {}, which none of the {} others entered", stuck.place(),
                             behind.size()),
                 Claim::report_ahead};
    row.ahead.sure.add(Ground::may_wait_itself);
  }
  for (const int rank : behind) {
    Came& came = row.members[rank];
    came.how_far = HowFar::not_entered;
    if (late.lines.contains(rank)) came.lines = {late.lines[rank]};
    if (row.is_held)
      came.aside = fmt::format("{} waits itself in {}, which they finished",
                               behind.size() == 1 ? "it" : fmt::format("rank {}", rank),
                               late.own_calls[rank]);
  }
  for (const TorchRank* rank : crew.roster.numbered(behind))
    if (rank->stuck) {
      row.is_held = false;
      Came& came = row.members[rank->rank];
      came.aside = rank->gil ? "Python's lock is held there"
                             : "its watchdog is stuck in a call of CUDA or NCCL";
      came.lines.insert(came.lines.begin(), &*rank->stuck);
    }
  if (row.ahead.words.empty())
    row.behind = {fmt::format("{} {}, in which {} {}",
                              row.is_leave ? "ended without entering" : "never entered",
                              stuck.place(), stuck.waiting.size(),
                              stuck.waiting.size() == 1 ? "rank timed out" : "ranks timed out"),
                  claim};
}

// All ranks wait for each other, half of them in one call of a group and half in a later one: the
// later ones finished calls that the others never finished. If the calls are adjacent, all may have
// made the same calls, and only some finished the earlier one.
void find_apart(const Footing& crew, const StuckGroup& stuck, ProgressRow& row) {
  constexpr std::uint64_t kApart = 2;
  if (stuck.local || stuck.point_to_point || !stuck.whole_job) return;
  const std::set<int>& all = crew.torch.world();
  if (crew.torch.expected() > static_cast<int>(all.size())) return;
  if (stuck.group.empty() && all.size() > 2) return;  // they may be several groups
  // NCCL's own lines show better which rank called what.
  if (std::ranges::any_of(crew.view.members,
                          [&](std::size_t index) { return crew.view.member(index).calls > 0; }))
    return;
  std::map<std::uint64_t, std::set<int>> at;
  std::map<std::uint64_t, const TimedOut*> waits;
  for (const TimedOut& wait : stuck.waits) {
    at[wait.sequence()].insert(wait.rank);
    waits[wait.sequence()] = &wait;
  }
  if (at.size() != 2) return;
  const auto& [earlier, behind] = *at.begin();
  const auto& [later, ahead] = *at.rbegin();
  std::set<int> everybody = behind;
  everybody.insert(ahead.begin(), ahead.end());
  if (everybody != all || behind.size() != ahead.size() || later - earlier < kApart) return;
  row.odd = everybody;
  row.differs = {fmt::format("{} in {} {} and {} in {} {}{} wait for each other",
                             crew.torch.people(behind), waits[earlier]->operation(), earlier,
                             in_a_sentence(crew.torch.people(ahead)), waits[later]->operation(),
                             later, stuck.name().empty() ? "" : " of " + stuck.name()),
                 Claim::timeout_only, true};
}

using GroupKey = std::pair<std::string, bool>;  // its name; whether it holds Sends and Recvs
using GroupsByKey = std::map<GroupKey, StuckGroup>;

// The groups with a name, by the calls in which their ranks wait.
class NamedGroups {
 public:
  NamedGroups(GroupsByKey& by_group, bool point_to_point) {
    for (auto& [key, stuck] : by_group) {
      if (key.first.empty() || key.second != point_to_point) continue;
      for (const TimedOut& wait : stuck.waits) {
        ranks_[&stuck].insert(wait.rank);
        std::vector<StuckGroup*>& there = by_call_[call_of(wait)];
        if (there.empty() || there.back() != &stuck) there.push_back(&stuck);
      }
    }
  }

  // Adds the wait to the one group in which another rank timed out in the same call. False if there
  // is none, or if there are several.
  bool take(const TimedOut& wait) {
    const auto there = by_call_.find(call_of(wait));
    if (there == by_call_.end()) return false;
    StuckGroup* its = nullptr;
    for (StuckGroup* stuck : there->second) {
      if (ranks_[stuck].contains(wait.rank)) continue;
      if (its != nullptr) return false;
      its = stuck;
    }
    if (its == nullptr) return false;
    its->waits.push_back(wait);
    ranks_[its].insert(wait.rank);
    return true;
  }

 private:
  // High numbers of two groups are hardly equal by chance, so there the operation may differ.
  using Call = std::pair<std::uint64_t, std::string>;
  static Call call_of(const TimedOut& wait) {
    constexpr std::uint64_t kHigh = 1000;
    return {wait.sequence(), wait.sequence() >= kHigh ? std::string() : wait.operation()};
  }

  std::map<Call, std::vector<StuckGroup*>> by_call_;
  std::map<const StuckGroup*, std::set<int>> ranks_;  // that wait in it
};

// A line that names no group belongs to the group whose ranks wait in the same call, if there is
// only one.
void give_unnamed_their_group(GroupsByKey& by_group, bool point_to_point) {
  const auto unnamed = by_group.find({"", point_to_point});
  if (unnamed == by_group.end()) return;
  NamedGroups named(by_group, point_to_point);
  std::erase_if(unnamed->second.waits, [&](const TimedOut& wait) { return named.take(wait); });
  if (unnamed->second.waits.empty()) by_group.erase(unnamed);
}

// A job that makes its default group anew has a few, not one for each of its ranks: takes those in
// which ranks waited first.
std::set<std::string> names_of_default_groups(const GroupsByKey& by_group) {
  constexpr std::size_t kMostGroups = 4;
  std::map<std::string, std::int64_t> since;
  for (const auto& [key, stuck] : by_group) {
    if (stuck.description != "default_pg") continue;
    const std::int64_t begun = waited_since(stuck).value_or(INT64_MAX);
    const auto [known, is_new] = since.try_emplace(stuck.group, begun);
    if (!is_new) known->second = std::min(known->second, begun);
  }
  std::vector<std::pair<std::int64_t, std::string>> sorted;
  for (const auto& [name, begun] : since) sorted.emplace_back(begun, name);
  std::ranges::sort(sorted);
  std::set<std::string> names;
  for (const auto& [begun, name] : sorted)
    if (names.size() < kMostGroups) names.insert(name);
  return names;
}

ProgressRow row_of(const Footing& crew, const StuckGroup& stuck) {
  ProgressRow row;
  row.group = stuck.group.empty() ? std::string() : stuck.name();
  row.since = stuck.waits.front().timeout->line.time;
  for (const TimedOut& wait : stuck.waits) {
    if (wait.rank < 0) continue;
    // A rank that timed out waits, here or in another call.
    Came& came = row.members[wait.rank];
    came.how_far = wait.sequence() == stuck.sequence ? HowFar::entered : HowFar::unknown;
    came.lines = {&wait.timeout->line};
    if (row.since.known() || !stuck.waiting.contains(wait.rank)) continue;
    row.since = wait.timeout->line.time;
  }
  find_odd(stuck, row);
  if (row.odd.empty()) find_behind(crew, stuck, row);
  if (row.odd.empty() && row.with(HowFar::not_entered).empty()) find_apart(crew, stuck, row);
  // It is missed from the time of the call on, though it may have ended later.
  if (row.is_leave)
    for (const TimedOut& wait : stuck.waits)
      if (const EventTime called = called_at(*wait.timeout);
          order_of(called, row.since, false) == Order::before)
        row.since = called;
  const auto all = static_cast<std::size_t>(crew.torch.expected());
  if (all > 1 && stuck.whole_job && stuck.waiting.size() == all)
    row.all_entered = {
        fmt::format("All {} ranks entered {} and none finished it", all, stuck.place()),
        Claim::timeout_stalled, true};
  return row;
}

}  // namespace

std::string StuckGroup::name() const {
  if (!description.empty()) return description;
  return group.empty() ? std::string() : "group " + group;
}

std::string StuckGroup::place() const {
  return fmt::format("{} {}{}{}", operation, sequence, name().empty() ? "" : " of ", name());
}

std::vector<StuckGroup> stuck_groups(const TorchCrew& crew) {
  GroupsByKey by_group;
  for (const TorchRank* rank : crew.ranks()) {
    std::set<std::pair<std::string, bool>> seen;
    for (const TorchTimeout& timeout : rank->timeouts) {
      if (!timeout.timeout.sequence || !crew.in_attempt(timeout.line)) continue;
      const TorchGroup& group = timeout.timeout.group;
      const bool local = group.name.empty() && group.id > 0;
      const std::pair key(local ? fmt::format("#{}", group.id) : group.name,
                          is_point_to_point(timeout.timeout));
      if (!seen.insert(key).second) continue;
      StuckGroup& stuck = by_group[key];
      stuck.group = group.name;
      stuck.point_to_point = key.second;
      stuck.local = local;
      if (!group.description.empty()) stuck.description = group.description;
      stuck.waits.push_back({rank->rank, &timeout});
    }
  }
  for (const bool point_to_point : {false, true})
    give_unnamed_their_group(by_group, point_to_point);
  std::vector<StuckGroup> all;
  const std::set<std::string> default_groups = names_of_default_groups(by_group);
  for (auto& [key, stuck] : by_group) {
    stuck.whole_job = (stuck.group.empty() && !stuck.local) || stuck.group == "0" ||
                      (stuck.description == "default_pg" && default_groups.contains(stuck.group));
    find_where(stuck);
    all.push_back(std::move(stuck));
  }
  return all;
}

std::optional<std::int64_t> waited_since(const StuckGroup& stuck) {
  std::optional<std::int64_t> first;
  for (const TimedOut& wait : stuck.waits)
    if (const auto began = called_at(*wait.timeout).wall_us)
      first = std::min(first.value_or(*began), *began);
  return first;
}

const StuckGroup& first_stuck(const std::vector<StuckGroup>& all) {
  std::vector<std::int64_t> since;
  for (const StuckGroup& stuck : all) since.push_back(waited_since(stuck).value_or(INT64_MAX));
  return all[static_cast<std::size_t>(std::ranges::min_element(since) - since.begin())];
}

ProgressTable table_of_timeouts(const View& view, const TorchCrew& crew,
                                const std::vector<StuckGroup>& all) {
  ProgressTable table = table_of_ranks(crew);
  const Footing ranks{.view = view, .torch = crew};
  for (const StuckGroup& stuck : all) table.rows.push_back(row_of(ranks, stuck));
  // If several ranks are late and wait elsewhere, it is not known which one is the origin.
  table.names_circles = std::ranges::all_of(
      table.rows, [](const ProgressRow& row) { return row.with(HowFar::not_entered).size() <= 1; });
  return table;
}

ProgressTable table_of_the_free(const View& view, const TorchCrew& crew,
                                const std::vector<StuckGroup>& all) {
  constexpr std::size_t kFew = 4;  // this many times more ranks time out
  ProgressTable table = table_of_ranks(crew);
  if (all.empty()) return table;
  std::set<int> timed_out = waiting_somewhere(view, crew);
  for (const StuckGroup& stuck : all)
    for (const TimedOut& wait : stuck.waits) timed_out.insert(wait.rank);
  if (timed_out.contains(-1)) return table;
  std::set<int> free;
  std::ranges::set_difference(crew.world(), timed_out, std::inserter(free, free.end()));
  for (const int rank : came_by_calls(view, first_stuck(all))) free.erase(rank);
  // A rank whose log is not here may be the one that the others wait for.
  if (!std::ranges::all_of(free, [&](int rank) { return crew.would_be_heard(rank); }) ||
      free.empty() || timed_out.size() < 3 ||
      (free.size() > 1 && free.size() * kFew > timed_out.size()))
    return table;
  ProgressRow& row = table.rows.emplace_back();
  for (const int rank : timed_out) row.members[rank].how_far = HowFar::entered;
  for (const int rank : free) row.members[rank].how_far = HowFar::not_entered;
  std::size_t told = 0;
  for (const TorchRank* rank : crew.ranks())
    if (free.contains(rank->rank) && rank->signalled) {
      row.members[rank->rank].lines = {&*rank->signalled};
      ++told;
    }
  row.line = &first_stuck(all).waits.front().timeout->line;
  row.since = row.line->time;
  const bool all_told = told == free.size();
  row.behind = {fmt::format("{}, while all {} others timed out: they wait for {}",
                            all_told ? "reported no timeout" : "said nothing", timed_out.size(),
                            free.size() == 1 ? "it" : "them"),
                all_told ? Claim::timeout_told : Claim::timeout_silent};
  return table;
}

}  // namespace faultline
