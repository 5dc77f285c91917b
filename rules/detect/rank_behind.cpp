#include "rules/detect/rank_behind.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "rules/detect/behind_despite_gaps.h"
#include "rules/detect/collective_stalled.h"
#include "rules/detect/ends_too_soon.h"
#include "rules/detect/stacks.h"
#include "rules/detect/went_past.h"
#include "rules/knowledge/ground_names.h"
#include "rules/picture/calls/came.h"
#include "rules/picture/calls/p2p_waits.h"
#include "rules/picture/calls/queue_replay.h"

namespace faultline {
namespace {

constexpr std::size_t kFewStop = 5;  // ranks stop alone or with their host, not a fifth of them
constexpr std::uint64_t kShortQueue = 5;  // calls by which ranks differ though none of them stopped

using WorkerSet = std::set<std::size_t>;

// Some ranks may finish a call with a root while the others still wait in it. Then most ranks are
// behind those few, but have not missed the call that these went on to.
bool are_held_up(const View& view, const Alignment& alignment) {
  if (alignment.slowest == 0 || alignment.behind.size() * 2 <= alignment.members.size())
    return false;
  return std::ranges::all_of(alignment.behind, [&](std::size_t member) {
    const RecentCalls& recent = view.member(member).recent;
    if (recent.empty()) return false;
    const std::string& call = view.job.progress().signature(recent.back().symbol).function;
    return call == "Broadcast" || call == "Reduce";
  });
}

// Something says that the job stopped: an end, a time-out, a dump, or that nothing came for long.
bool stop_is_told(const View& view, const Alignment& alignment) {
  constexpr std::int64_t kLongUs = 30'000'000;
  if (view.has_stopped(alignment.communicator) || !view.job.flight().dumps().empty() ||
      !view.job.torch().empty())
    return true;
  return std::ranges::any_of(alignment.members, [&](std::size_t index) {
    const Member& member = view.member(index);
    const auto last = view.job.sources().at(member.calls_source).last_wall_us;
    return member.ending ||
           (last && member.last_line.time.wall_us &&
            *last - *member.last_line.time.wall_us > kLongUs && view.places[index].is_behind());
  });
}

// CPUs run ahead of each other. An excerpt of a log that ends between two calls shows some ranks a
// few calls behind, whether they stopped or not.
bool may_be_cut(const View& view, const Alignment& alignment) {
  if (alignment.furthest - alignment.slowest > kShortQueue) return false;
  const std::uint32_t source = view.member(alignment.members.front()).calls_source;
  return std::ranges::all_of(alignment.members,
                             [&](std::size_t index) {
                               const Member& member = view.member(index);
                               return !member.from_start && member.calls_source == source;
                             }) &&
         !stop_is_told(view, alignment);
}

// Its logs were cut out of longer ones, and end where they were cut.
bool is_of_excerpts(const View& view, const Alignment& alignment) {
  return std::ranges::none_of(alignment.members,
                              [&](std::size_t index) { return view.member(index).from_start; }) &&
         !stop_is_told(view, alignment);
}

bool counts(const View& view, const CameByTorch& torch, const Alignment& alignment) {
  return view.stands(alignment) && !are_held_up(view, alignment) &&
         !torch.all_came(view, alignment) && !may_be_cut(view, alignment);
}

WorkerSet workers_behind(const View& view, const Alignment& alignment) {
  WorkerSet behind;
  for (std::size_t member : alignment.behind) behind.insert(view.workers.of_member[member]);
  return behind;
}

// Communicators are nested: a rank that is late in one may itself wait in another. Ranks that are
// waited for and wait for nobody are the origin.
struct WaitFor {
  WorkerSet waited_for;
  WorkerSet waiting;
  bool in_p2p = false;    // some wait in Sends and Recvs
  bool circular = false;  // all ranks that are waited for wait themselves

  bool is_origin(std::size_t worker) const {
    return waited_for.contains(worker) && (circular || !waiting.contains(worker));
  }
};

WaitFor wait_for(const View& view, const CameByTorch& torch) {
  WaitFor relation;
  const WorkerSet astray = workers_on_other_paths(view);
  for (const Alignment& alignment : view.alignments) {
    if (!counts(view, torch, alignment)) continue;
    relation.waited_for.merge(workers_behind(view, alignment));
    for (std::size_t member : alignment.members)
      if (std::size_t worker = view.workers.of_member[member];
          !view.places[member].is_behind() && !astray.contains(worker))
        relation.waiting.insert(worker);
  }
  relation.in_p2p = add_p2p_waits(view, relation.waited_for, relation.waiting);
  relation.circular = std::ranges::includes(relation.waiting, relation.waited_for);
  return relation;
}

// The peer that went least far past the operation that the others miss: most likely it waits there.
std::size_t first_waiting(const Alignment& alignment) {
  std::size_t best = 0;
  std::uint64_t best_position = UINT64_MAX;
  for (std::size_t i = 0; i < alignment.members.size(); ++i)
    if (alignment.positions[i] > alignment.slowest && alignment.positions[i] < best_position) {
      best = i;
      best_position = alignment.positions[i];
    }
  return alignment.members[best];
}

// Where the calls before are all alike, a rank that is one call short may have left out any of
// them.
bool calls_are_alike(const View& view, const Alignment& alignment, std::size_t member) {
  constexpr std::size_t kEnoughAlike = 8;
  const RecentCalls& recent = view.member(member).recent;
  if (!alignment.missed || recent.size() < kEnoughAlike) return false;
  for (std::size_t i = recent.size() - kEnoughAlike; i < recent.size(); ++i)
    if (recent[i].symbol != *alignment.missed) return false;
  return true;
}

// How sure it is that others wait for these ranks.
Sureness how_surely_behind(const View& view, const Alignment& alignment, bool circular) {
  Sureness sure = Claim::rank_behind;
  if (circular) sure.add(Ground::waits_in_a_circle);
  if (std::ranges::any_of(alignment.behind, [&](std::size_t m) { return view.is_torn(m); }))
    sure.add(Ground::log_torn);
  if (alignment.behind.size() == 1 && alignment.basis == Basis::counted &&
      went_on_with_its_peers(view, alignment, alignment.behind.front()))
    sure.add(Ground::one_line_tells);
  add_doubts_of_place(view, alignment, sure);
  return sure;
}

Suspicion describe_behind(const View& view, const Alignment& alignment,
                          const std::vector<std::size_t>& culprits,
                          const std::vector<std::string>& communicators, const WaitFor& relation) {
  const std::size_t peer = first_waiting(alignment);
  const std::string call = alignment.missed
                               ? view.job.progress().signature(*alignment.missed).function
                               : std::string("a call");
  const std::string label = alignment.label(alignment.slowest);
  const std::size_t waiting = alignment.members.size() - alignment.behind.size();
  const std::size_t all_waiting = relation.circular ? 0 : relation.waiting.size();

  Suspicion suspicion =
      hang(Cause::collective_rank_behind, how_surely_behind(view, alignment, relation.circular),
           view.member(culprits.front()).last_line.time);
  Finding& finding = suspicion.finding;
  finding.title = fmt::format("{} never entered {}{}{} of communicator {}, in which {} {}",
                              people_of(view, culprits), call,
                              label.empty() || label.starts_with("#") ? " " : ", ", label,
                              view.communicators[alignment.communicator].id, waiting,
                              waiting == 1 ? "peer waits" : "peers wait");
  if (all_waiting > waiting) finding.title += fmt::format("; {} ranks wait in all", all_waiting);
  if (calls_are_alike(view, alignment, culprits.front()))
    finding.actions.push_back(
        {"If it did not stop, look for a call that it skipped. The calls before are all alike, so "
         "the logs cannot show which one.",
         "", ""});
  finding.subject = subject_of(view, culprits);
  finding.subject.communicators = communicators;
  add_last_lines(view, culprits, finding);
  finding.evidence.push_back(view.evidence(view.member(peer).last_line));
  add_what_it_does(view, finding);
  return suspicion;
}

// If the ranks that are waited for are all ranks of one communicator, and entered the same call
// there, none of them stopped: that call does not end. Ranks of one host are not judged so, because
// they may all have stopped together.
const Alignment* call_that_does_not_end(const View& view, const WorkerSet& origins) {
  for (const Alignment& alignment : view.alignments) {
    const Communicator& communicator = view.communicators[alignment.communicator];
    if (alignment.members.size() != origins.size() || !alignment.in_step() ||
        alignment.furthest == 0 || alignment.members.size() < 2 ||
        !communicator.are_all(alignment.members.size()))
      continue;
    std::set<std::string> hosts;
    const bool all_are_origins = std::ranges::all_of(alignment.members, [&](std::size_t member) {
      hosts.insert(view.member(member).host);
      return origins.contains(view.workers.of_member[member]) && !view.is_torn(member);
    });
    if (all_are_origins && hosts.size() > 1) return &alignment;
  }
  return nullptr;
}

Suspicion describe_stall(const View& view, const Alignment& alignment, const WaitFor& relation) {
  const Communicator& communicator = view.communicators[alignment.communicator];
  const Member& any = view.member(alignment.members.front());
  const std::string label = alignment.label(alignment.furthest - 1);
  Sureness sure = Claim::call_does_not_end;
  if (!communicator.matched) sure.add(Ground::members_guessed);
  return stall_of(
      view, alignment.members, communicator.id,
      fmt::format("All {} ranks of communicator {} entered {}{}{}, which seems not to end; {} "
                  "ranks wait for them",
                  alignment.members.size(), communicator.id,
                  any.recent.empty()
                      ? std::string("the same call")
                      : view.job.progress().signature(any.recent.back().symbol).function,
                  label.empty() ? "" : " ", label, relation.waiting.size()),
      std::move(sure));
}

Suspicion describe_held_up(const View& view, const Alignment& alignment) {
  const Member& any = view.member(alignment.behind.front());
  const std::string& communicator = view.communicators[alignment.communicator].id;
  Suspicion suspicion = stall_of(
      view, alignment.behind, communicator,
      fmt::format("{} of {} ranks of communicator {} do not leave {} {}, which all entered",
                  alignment.behind.size(), alignment.members.size(), communicator,
                  view.job.progress().signature(any.recent.back().symbol).function,
                  alignment.label(alignment.slowest - 1)),
      Claim::call_does_not_end);
  suspicion.finding.subject = {.communicators = {communicator}};  // ranks that left may be guilty
  return suspicion;
}

// A rank that stopped is late wherever its peers went on. One that is late in one communicator and
// in step in all others may only have queued fewer calls than the peers that wait as it does.
bool in_step_elsewhere(const View& view, std::size_t worker) {
  std::map<std::size_t, bool> is_late_in;  // by communicator
  for (const std::size_t member : view.workers.all[worker].members) {
    const AlignedPlace& place = view.places[member];
    if (place.alignment == nullptr || place.alignment->members.size() < 2 ||
        place.alignment->furthest == 0)
      continue;
    is_late_in[place.alignment->communicator] |= place.is_behind();
  }
  const auto late =
      std::ranges::count(is_late_in, true, &std::pair<const std::size_t, bool>::second);
  return late == 1 && is_late_in.size() > 1;
}

// Ranks here and there made all calls that they had queued, and all others all but a few: nobody
// stopped, but an earlier call does not end.
Suspicion describe_stall_somewhere(const View& view, const QueueReplay& replay) {
  const Alignment* largest = nullptr;
  for (const Alignment& alignment : view.alignments)
    if (alignment.furthest > 0 &&
        (largest == nullptr || alignment.members.size() > largest->members.size()))
      largest = &alignment;
  const std::string& communicator = view.communicators[largest->communicator].id;
  const WorkerSet drained(replay.drained.begin(), replay.drained.end());
  const auto first = std::ranges::find_if(largest->members, [&](std::size_t member) {
    return drained.contains(view.workers.of_member[member]);
  });
  const Member& any =
      view.member(first == largest->members.end() ? largest->members.front() : *first);
  Suspicion suspicion =
      hang(Cause::collective_stalled, Claim::some_call_does_not_end, any.last_line.time);
  Finding& finding = suspicion.finding;
  finding.title = fmt::format(
      "All ranks of communicator {} stand still within a few calls of each other after {} "
      "collectives: a call that all entered does not end, and no line says which",
      communicator, largest->slowest);
  finding.subject.communicators = {communicator};
  if (any.last_line.known()) finding.evidence.push_back(view.evidence(any.last_line));
  return suspicion;
}

// The ranks that wait are only a few calls ahead. If a call that all had entered does not end, the
// rank that queued least only seems to be late.
void doubt_for_short_queues(const QueueReplay& replay, Suspicion& suspicion) {
  suspicion.sure.add(Ground::short_queues);
  suspicion.finding.against.push_back(
      fmt::format("the ranks that wait for it are only {} to {} calls ahead; that also fits a "
                  "call that all entered and that does not end",
                  replay.least_pending, replay.most_pending));
}

// The ranks of one communicator queued few calls, and all others wait for them.
Suspicion describe_stalled_group(const View& view, const std::vector<std::size_t>& groups) {
  const Communicator& group = view.communicators[groups.front()];
  Suspicion suspicion = hang(Cause::collective_stalled, Claim::group_does_not_end);
  Finding& finding = suspicion.finding;
  finding.title = fmt::format(
      "All {} ranks of communicator {} stand within a few calls of each other, and all others wait "
      "for them: a call that they all entered does not end",
      group.members.size(), group.id);
  for (const std::size_t which : groups)
    finding.subject.communicators.push_back(view.communicators[which].id);
  for (const std::size_t member : group.members) {
    const Member& it = view.member(member);
    if (it.last_line.known() && finding.evidence.size() < kMostLines)
      finding.evidence.push_back(view.evidence(it.last_line));
    if (!suspicion.since.known()) suspicion.since = it.last_line.time;
  }
  return suspicion;
}

// Whether one of these ranks made calls on a communicator of which some ranks have no log.
bool calls_with_unheard_peers(const View& view, const std::vector<int>& ranks) {
  const auto calls_there = [&](std::size_t member) {
    const std::size_t which = view.communicator_of[member];
    return which != kNoCommunicator && view.member(member).calls > 0 &&
           view.communicators[which].members.size() <
               static_cast<std::size_t>(view.communicators[which].nranks);
  };
  return std::ranges::any_of(ranks, [&](int rank) {
    return std::ranges::any_of(view.workers.of_rank(rank), [&](std::size_t worker) {
      return std::ranges::any_of(view.workers.all[worker].members, calls_there);
    });
  });
}

// Excerpts that were cut show ranks late here and there. That alone shows neither a stop nor
// health.
void leave_open_whether_it_stopped(Suspicion& suspicion) {
  suspicion.stops_job = false;
  suspicion.verdict = Verdict::unknown;
}

// One rank, or all of one host.
bool stopped_together(const View& view, const std::vector<std::size_t>& workers) {
  if (workers.size() <= 1) return workers.size() == 1;
  const std::string& host = view.workers.all[workers.front()].host;
  const auto of_host = std::ranges::count(view.workers.all, host, &Worker::host);
  return !host.empty() && static_cast<std::size_t>(of_host) == workers.size() &&
         std::ranges::all_of(
             workers, [&](std::size_t worker) { return view.workers.all[worker].host == host; });
}

// Whether the ranks may only seem late because logs were cut. A rank that stopped is late in all
// its communicators, and a host that stopped is late with all its ranks.
bool is_late_by_a_cut(const View& view, const WorkerSet& workers) {
  const std::vector<std::size_t> all(workers.begin(), workers.end());
  return !stopped_together(view, all) || std::ranges::all_of(all, [&](std::size_t worker) {
    return in_step_elsewhere(view, worker);
  });
}

// Each of these ranks is late in another communicator, and together they are all ranks of a host:
// the host stopped.
Suspicion describe_host_behind(
    const View& view, const std::map<WorkerSet, std::vector<const Alignment*>>& by_culprits,
    const WaitFor& relation) {
  std::map<std::size_t, std::size_t> member_of;  // by worker, which may be late in several
  std::vector<std::string> communicators;
  std::vector<Ground> doubts;
  const Alignment* largest = by_culprits.begin()->second.front();
  for (const auto& [workers, alignments] : by_culprits) {
    const Alignment& telling = *alignments.front();
    for (const std::size_t member : telling.behind)
      if (const std::size_t worker = view.workers.of_member[member]; workers.contains(worker))
        member_of.emplace(worker, member);
    for (const Alignment* alignment : alignments) {
      communicators.push_back(view.communicators[alignment->communicator].id);
      if (alignment->members.size() > largest->members.size()) largest = alignment;
    }
    const Sureness its = how_surely_behind(view, telling, relation.circular);
    doubts.insert(doubts.end(), its.grounds.begin(), its.grounds.end());
  }
  std::vector<std::size_t> culprits;
  for (const auto& [worker, member] : member_of) culprits.push_back(member);
  Suspicion suspicion = describe_behind(view, *largest, culprits, communicators, relation);
  suspicion.finding.title = fmt::format(
      "All {} ranks of {} stopped, each before a call in which peers wait; {} ranks wait in all",
      culprits.size(), view.member(culprits.front()).host, relation.waiting.size());
  suspicion.sure.add(doubts);
  return suspicion;
}

}  // namespace

std::vector<Suspicion> find_ranks_behind(const View& view) {
  if (view.lines_are_missing()) return find_ranks_behind_despite_gaps(view);
  const CameByTorch torch(view);
  WaitFor relation = wait_for(view, torch);
  const auto replay = relation.waited_for.empty() ? std::nullopt : replay_queues(view);
  const bool is_told = replay && replay->waiting > 0 && replay->is_clear() &&
                       stopped_together(view, replay->drained);
  if (is_told) {
    relation.circular = relation.in_p2p = false;
    relation.waiting.clear();
    for (std::size_t worker = 0; worker < replay->pending.size(); ++worker)
      if (replay->pending[worker] > 0) relation.waiting.insert(worker);
  }
  // The same ranks may be missed in several communicators: one finding.
  std::map<WorkerSet, std::vector<const Alignment*>> by_culprits;
  for (const Alignment& alignment : view.alignments) {
    if (!counts(view, torch, alignment)) continue;
    WorkerSet culprits;
    for (std::size_t worker : workers_behind(view, alignment))
      if (relation.is_origin(worker)) culprits.insert(worker);
    if (!culprits.empty()) by_culprits[culprits].push_back(&alignment);
  }

  WorkerSet origins;
  for (const auto& [workers, alignments] : by_culprits)
    origins.insert(workers.begin(), workers.end());
  if (const Alignment* stuck = call_that_does_not_end(view, origins))
    return {describe_stall(view, *stuck, relation)};

  if (replay && replay->waiting > 0 && !is_told) {
    const std::vector<std::size_t> groups = groups_with_short_queues(view, *replay);
    if (!groups.empty()) return {describe_stalled_group(view, groups)};
  }
  if (replay && replay->waiting > 0 && !is_told && replay->drained.size() > 1 &&
      (!replay->is_clear() || replay->drained.size() * kFewStop >= view.workers.all.size()) &&
      (relation.circular || by_culprits.size() > 1))
    return {describe_stall_somewhere(view, *replay)};

  std::vector<Suspicion> found;
  if (by_culprits.empty())
    for (const Alignment& alignment : view.alignments)
      if (view.stands(alignment) && are_held_up(view, alignment))
        found.push_back(describe_held_up(view, alignment));
  const std::vector<std::size_t> together(origins.begin(), origins.end());
  const bool is_a_host = by_culprits.size() > 1 && stopped_together(view, together);
  if (is_a_host) found.push_back(describe_host_behind(view, by_culprits, relation));
  for (const auto& [workers, alignments] : by_culprits) {
    if (is_a_host) break;
    // Prefers a communicator in which only these ranks are behind: there the peers wait for them
    // directly.
    const Alignment* telling = *std::ranges::max_element(alignments, {}, [&](const Alignment* a) {
      return std::make_pair(a->behind.size() == workers.size(), a->members.size());
    });
    std::vector<std::size_t> culprits;
    for (std::size_t member : telling->behind)
      if (workers.contains(view.workers.of_member[member])) culprits.push_back(member);
    std::vector<std::string> ids;
    for (const Alignment* alignment : alignments)
      ids.push_back(view.communicators[alignment->communicator].id);
    found.push_back(describe_behind(view, *telling, culprits, ids, relation));
    if (workers.size() == 1 && in_step_elsewhere(view, *workers.begin()))
      found.back().sure.add(Ground::in_step_elsewhere);
  }
  const bool all_end_too_soon = std::ranges::all_of(by_culprits, [&](const auto& entry) {
    return std::ranges::all_of(entry.second, [&](const Alignment* it) {
      return ends_too_soon(view, *it, entry.first) && !stop_is_told(view, *it);
    });
  });
  if (all_end_too_soon && !by_culprits.empty())
    for (Suspicion& suspicion : found) {
      leave_open_whether_it_stopped(suspicion);
      suspicion.sure.add(Ground::log_ends_there);
    }
  for (Suspicion& suspicion : found)
    if (calls_with_unheard_peers(view, suspicion.finding.subject.ranks))
      suspicion.sure.add(Ground::may_wait_itself);
  if (replay && replay->waiting > 0 && !replay->is_clear() && replay->most_pending <= kShortQueue)
    for (Suspicion& suspicion : found) doubt_for_short_queues(*replay, suspicion);
  // Ranks that wait in a Send or Recv stop enqueueing at different calls, and no line shows it.
  for (Suspicion& suspicion : found)
    if (found.size() > 1 || (relation.in_p2p && suspicion.finding.subject.ranks.size() > 1))
      suspicion.sure.add(Ground::late_here_and_there);
    else if (relation.in_p2p)
      suspicion.sure.add(Ground::beside_p2p_waits);
  const bool of_excerpts = std::ranges::all_of(by_culprits, [&](const auto& entry) {
    return std::ranges::all_of(entry.second,
                               [&](const Alignment* it) { return is_of_excerpts(view, *it); });
  });
  if (of_excerpts && by_culprits.size() > 1)
    for (Suspicion& suspicion : found) leave_open_whether_it_stopped(suspicion);
  if (of_excerpts && by_culprits.size() == 1 && is_late_by_a_cut(view, by_culprits.begin()->first))
    for (Suspicion& suspicion : found) {
      leave_open_whether_it_stopped(suspicion);
      suspicion.sure.add(Ground::may_be_cut_there);
    }
  return found;
}

}  // namespace faultline
