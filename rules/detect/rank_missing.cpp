#include "rules/detect/rank_missing.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/prose.h"
#include "rules/picture/calls/start_stages.h"
#include "rules/picture/who/rank_hosts.h"

namespace faultline {
namespace {

constexpr std::size_t kMostFindings = 4;

// A communicator that is being set up, as far as lines show.
struct Start {
  std::size_t communicator = 0;
  std::vector<std::size_t> finished;  // members
  std::vector<std::size_t> stuck;
  std::vector<int> unseen;  // ranks of the communicator
};

bool is_live(const View& view, std::uint32_t source) {
  const SourceState& state = view.job.sources().at(source);
  return view.moment.live_sources.contains(state.source.name) ||
         (state.end == SourceEnd::open && !view.moment.waiting_sources.contains(state.source.name));
}

// By worker and source: the last line of a communicator that it has used, or finished setting up.
using LastFinished = std::map<std::pair<std::size_t, std::uint32_t>, std::uint64_t>;

LastFinished last_finished_in(const View& view) {
  LastFinished last;
  for (std::size_t worker = 0; worker < view.workers.all.size(); ++worker)
    for (const std::size_t index : view.workers.all[worker].members) {
      const Member& member = view.member(index);
      if (!member.complete && !member.first_op_count) continue;
      const LineRef& line = member.latest_line();
      std::uint64_t& known = last[{worker, line.source}];
      known = std::max(known, line.line);
    }
  return last;
}

// The line that ends the setup may be lost, and some versions print none. A rank that goes on to
// use this communicator or another has finished, too.
bool has_finished(const View& view, const LastFinished& last, std::size_t index) {
  const Member& member = view.member(index);
  if (member.complete || member.first_op_count || member.left_cleanly()) return true;
  const auto known = last.find({view.workers.of_member[index], member.init_line.source});
  return known != last.end() && known->second > member.init_line.line;
}

// NCCL knows a communicator's shape and channels only from all ranks. Once one rank prints them,
// all have joined, even if the lines of some are missing.
bool all_have_met(const View& view, const std::vector<std::size_t>& members) {
  return std::ranges::any_of(members, [&](std::size_t index) {
    const Member& member = view.member(index);
    const ProcessSetup* setup = view.job.setup().find(member.process);
    return setup != nullptr &&
           std::ranges::any_of(setup->communicators, [&](const CommunicatorSetup& own) {
             return own.communicator == member.pointer && own.nodes > 0;
           });
  });
}

std::optional<Start> start_of(const View& view, const LastFinished& last, std::size_t which) {
  const Communicator& communicator = view.communicators[which];
  if (!communicator.matched) return std::nullopt;
  Start start{.communicator = which};
  std::set<int> seen;
  for (std::size_t index : communicator.members) {
    const Member& member = view.member(index);
    if (!member.init || !view.in_attempt(member.process)) return std::nullopt;
    seen.insert(member.init->rank);
    if (has_finished(view, last, index)) {
      start.finished.push_back(index);
    } else {
      if (is_live(view, member.init_line.source)) return std::nullopt;
      start.stuck.push_back(index);
    }
  }
  if (start.stuck.empty()) return std::nullopt;
  // If fewer than half of the ranks were seen, the unseen ones are not named.
  const auto nranks = static_cast<std::size_t>(std::max(communicator.nranks, 0));
  if (seen.size() * 2 < nranks) return start.finished.empty() ? std::nullopt : std::optional(start);
  for (int rank = 0; rank < communicator.nranks; ++rank)
    if (!seen.contains(rank)) start.unseen.push_back(rank);
  return start;
}

Suspicion suspicion_of_start(const View& view, const Start& start, Cause cause, Sureness sure,
                             std::string title) {
  Suspicion suspicion =
      hang(cause, std::move(sure), view.member(start.stuck.front()).init_line.time);
  Finding& finding = suspicion.finding;
  finding.title = std::move(title);
  finding.subject.communicators = {view.communicators[start.communicator].id};
  return suspicion;
}

void add_lines_of(const View& view, const std::vector<std::size_t>& members, std::size_t most,
                  Finding& finding) {
  for (std::size_t i = 0; i < std::min(members.size(), most); ++i)
    finding.evidence.push_back(view.evidence(view.member(members[i]).init_line));
}

bool one_file_has_several(const View& view, const std::vector<std::size_t>& members) {
  std::map<std::uint32_t, ProcessKey> writer;
  for (const ProcessSeen& seen : view.job.processes().all())
    if (!writer.try_emplace(seen.source, seen.process).second)
      writer[seen.source] = ProcessKey{};  // several
  return std::ranges::any_of(members, [&](std::size_t index) {
    const auto at = writer.find(view.member(index).init_line.source);
    return at != writer.end() && at->second.host.empty();
  });
}

// Logs that begin in the middle of the work: they may have been cut at their ends as well.
std::set<std::uint32_t> excerpts_of_work(const View& view) {
  std::set<std::uint32_t> excerpts;
  for (const Worker& worker : view.workers.all)
    for (const std::size_t index : worker.members)
      if (const Member& member = view.member(index); member.calls > 0 && !member.from_start)
        excerpts.insert(member.calls_source);
  return excerpts;
}

Suspicion stuck(const View& view, const Start& start) {
  const Communicator& communicator = view.communicators[start.communicator];
  Claim claim = start.stuck.size() <= start.finished.size() ? Claim::join_not_finished
                                                            : Claim::join_end_unseen;
  // If peers went on to work, more than the one line that ends the setup is missing.
  const bool peers_work = std::ranges::any_of(
      start.finished, [&](std::size_t m) { return view.member(m).first_op_count.has_value(); });
  const std::set<std::uint32_t> excerpts = excerpts_of_work(view);
  const auto may_be_cut = [&](std::size_t m) {
    return view.is_torn(m) || excerpts.contains(view.member(m).init_line.source);
  };
  if (std::ranges::any_of(start.stuck, may_be_cut) ||
      (!peers_work && one_file_has_several(view, start.stuck)))
    claim = Claim::join_end_unseen;
  Suspicion suspicion = suspicion_of_start(
      view, start, Cause::launch_rank_missing, claim,
      fmt::format("{} began to join communicator {} and never finished, while {} did",
                  people_of(view, start.stuck), communicator.id,
                  counted(start.finished.size(), "peer")));
  Subject subject = subject_of(view, start.stuck);
  subject.communicators = suspicion.finding.subject.communicators;
  suspicion.finding.subject = std::move(subject);
  add_lines_of(view, start.stuck, kMostLines, suspicion.finding);
  add_lines_of(view, start.finished, 1, suspicion.finding);
  return suspicion;
}

// All ranks began and none finished, but one or a few got less far than the others.
std::optional<Suspicion> least_far(const View& view, const std::vector<Start>& starts) {
  const Start& start =
      *std::ranges::max_element(starts, {}, [](const Start& s) { return s.stuck.size(); });
  std::vector<ProcessKey> processes;
  for (std::size_t member : start.stuck) processes.push_back(view.member(member).process);
  const LeftBehind behind = left_behind_in_start(view, processes);
  std::vector<std::size_t> culprits;
  std::vector<std::size_t> others;
  for (std::size_t member : start.stuck)
    (std::ranges::find(behind.processes, view.member(member).process) != behind.processes.end()
         ? culprits
         : others)
        .push_back(member);
  if (culprits.empty()) return std::nullopt;
  Suspicion suspicion = suspicion_of_start(
      view, start, Cause::launch_rank_missing, Claim::start_not_so_far,
      fmt::format("{} got less far than {} in setting up communicator {}: it printed no line of "
                  "its {}",
                  people_of(view, culprits), counted(others.size(), "peer"),
                  view.communicators[start.communicator].id, behind.stage));
  if (behind.one_line) suspicion.sure.add(Ground::one_line_tells);
  Finding& finding = suspicion.finding;
  Subject subject = subject_of(view, culprits);
  subject.communicators = finding.subject.communicators;
  finding.subject = std::move(subject);
  add_lines_of(view, culprits, kMostLines, finding);
  add_lines_of(view, others, 1, finding);
  return suspicion;
}

// One finding, however many communicators a job was setting up.
Suspicion nobody_finished(const View& view, const std::vector<Start>& starts) {
  const Start& start =
      *std::ranges::max_element(starts, {}, [](const Start& s) { return s.stuck.size(); });
  const Communicator& communicator = view.communicators[start.communicator];
  std::string title = fmt::format("All {} ranks began to set up communicator {} and none finished",
                                  communicator.nranks, communicator.id);
  if (starts.size() > 1)
    title += fmt::format("; the same for {} in all", counted(starts.size(), "communicator"));
  Suspicion suspicion = suspicion_of_start(view, start, Cause::collective_stalled,
                                           Claim::nobody_joined, std::move(title));
  // A log that ends like this may have been cut there, or the job is still starting.
  suspicion.stops_job = false;
  Finding& finding = suspicion.finding;
  finding.severity = Severity::warning;
  finding.subject = subject_of(view, start.stuck);
  for (const Start& each : starts)
    finding.subject.communicators.push_back(view.communicators[each.communicator].id);
  finding.actions.push_back(
      {"Set this before the next start, to see how far each rank gets: bootstrap, network, "
       "topology.",
       "", "export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,BOOTSTRAP,NET,GRAPH"});
  add_lines_of(view, start.stuck, kMostLines, finding);
  return suspicion;
}

// --- Ranks without a line of joining ---------------------------------------------------------

// Which ranks of the job the unseen ranks of a communicator are.
struct Absent {
  std::vector<int> ranks;            // of the job; empty: not known
  std::vector<std::size_t> workers;  // those that are known from elsewhere
};

// Members of the parent that made none of the communicators of this split.
std::vector<std::size_t> left_out_of_split(const View& view, const Start& start) {
  const Member& any = view.member(start.stuck.front());
  if (!any.init->parent) return {};
  // The parent, as this rank's process knows it.
  const auto parent = std::ranges::find_if(view.communicators, [&](const Communicator& c) {
    return std::ranges::any_of(c.members, [&](std::size_t m) {
      return view.member(m).process == any.process && view.member(m).pointer == *any.init->parent;
    });
  });
  if (parent == view.communicators.end()) return {};
  std::vector<std::size_t> workers;
  for (std::size_t of_parent : parent->members) {
    const Member& member = view.member(of_parent);
    const std::size_t worker = view.workers.of_member[of_parent];
    const bool took_part =
        std::ranges::any_of(view.workers.all[worker].members, [&](std::size_t m) {
          const auto& init = view.member(m).init;
          return init && init->parent == member.pointer && init->child == any.init->child;
        });
    if (!took_part) workers.push_back(worker);
  }
  return workers;
}

Absent absent_of(const View& view, const Start& start) {
  Absent absent;
  if (view.communicators[start.communicator].nranks == view.workers.expected) {
    absent.ranks = start.unseen;
    for (std::size_t i = 0; i < view.workers.all.size(); ++i)
      if (std::ranges::binary_search(start.unseen, view.workers.all[i].rank))
        absent.workers.push_back(i);
    return absent;
  }
  const std::vector<std::size_t> left_out = left_out_of_split(view, start);
  if (left_out.size() != start.unseen.size()) return absent;
  absent.workers = left_out;
  for (std::size_t worker : left_out)
    if (view.workers.all[worker].rank >= 0) absent.ranks.push_back(view.workers.all[worker].rank);
  return absent;
}

// Processes that printed lines, but none of joining: by their launcher's rank, because their host
// lacks just them, or because there are as many of them as ranks that did not come.
std::vector<const ProcessSeen*> stopped_before(const View& view, const std::vector<int>& ranks,
                                               const std::set<std::string>& hosts) {
  const std::set<int> wanted(ranks.begin(), ranks.end());
  std::vector<const ProcessSeen*> found;
  std::vector<const ProcessSeen*> all;
  for (const ProcessSeen& seen : view.job.processes().all()) {
    if (seen.began || !view.in_attempt(seen.process) || is_live(view, seen.source)) continue;
    all.push_back(&seen);
    const bool by_rank = wanted.contains(seen.launcher_rank);
    if (by_rank || (seen.launcher_rank < 0 && hosts.contains(seen.host))) found.push_back(&seen);
  }
  if (found.size() > ranks.size()) found.clear();  // not all of them can be it
  return found.empty() && !ranks.empty() && all.size() == ranks.size() ? all : found;
}

std::string ranks_text(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "Rank " : "Ranks ";
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (i > 0) text += ", ";
    text += last == i
                ? fmt::format("{}", ranks[i])
                : fmt::format("{} {} {}", ranks[i], last == i + 1 ? "and" : "to", ranks[last]);
    i = last + 1;
  }
  return text;
}

std::optional<Suspicion> unseen(const View& view, const Start& start) {
  const Communicator& communicator = view.communicators[start.communicator];
  const Absent absent = absent_of(view, start);
  for (std::size_t worker : absent.workers)
    for (std::size_t member : view.workers.all[worker].members)
      if (view.is_live(member)) return std::nullopt;

  std::set<std::string> hosts;
  bool hosts_known = !absent.ranks.empty();
  const RankHosts by_rank = rank_hosts(view);
  for (int rank : absent.ranks) {
    const std::string host = by_rank.host_of(rank);
    hosts_known &= !host.empty();
    if (!host.empty()) hosts.insert(host);
  }
  const auto stopped = stopped_before(view, absent.ranks, hosts);
  for (const ProcessSeen* seen : stopped)
    if (!seen->host.empty()) hosts.insert(seen->host);

  const double share = static_cast<double>(start.stuck.size()) / communicator.nranks;
  Sureness sure = share >= 9.0 / 10 ? Claim::rank_unheard : Claim::ranks_unheard;
  if (hosts_known || !absent.workers.empty())
    sure = absent.ranks.size() > 1 ? Claim::ranks_of_logged_host : Claim::rank_of_logged_host;
  if (!absent.ranks.empty() && stopped.size() == absent.ranks.size())
    sure = Claim::rank_printed_no_join;
  if (share < 3.0 / 4) sure.add(Ground::a_quarter_unheard);

  std::string subject =
      absent.ranks.empty()
          ? fmt::format("{} of communicator {}", ranks_text(start.unseen), communicator.id)
          : ranks_text(absent.ranks);
  if (hosts.size() == 1) subject += fmt::format(" on {}", *hosts.begin());
  Suspicion suspicion = suspicion_of_start(
      view, start, Cause::launch_rank_missing, std::move(sure),
      fmt::format("{} never joined{}, and {} for {}", subject,
                  absent.ranks.empty() ? "" : fmt::format(" communicator {}", communicator.id),
                  counted(start.stuck.size(), "rank waits", "ranks wait"),
                  start.unseen.size() == 1 ? "it" : "them"));
  Finding& finding = suspicion.finding;
  finding.subject.ranks = absent.ranks;
  finding.subject.hosts = {hosts.begin(), hosts.end()};
  for (const ProcessSeen* seen : stopped)
    if (finding.evidence.size() < kMostLines) finding.evidence.push_back(view.evidence(seen->last));
  add_lines_of(view, start.stuck, 1, finding);
  return suspicion;
}

// --- Before any rank begins to join; NCCL before 2.18.3 prints no line for it -----------------

// Processes that printed lines of their start, if none of them has a communicator yet; else none.
std::vector<const ProcessSeen*> all_waiting_to_start(const View& view) {
  std::vector<const ProcessSeen*> waiting;
  for (const Member& member : view.job.progress().members())
    if (view.in_attempt(member.process)) return {};
  for (const ProcessSeen& seen : view.job.processes().all()) {
    if (!view.in_attempt(seen.process)) continue;
    if (seen.began || seen.connected || !seen.prints_init || is_live(view, seen.source)) return {};
    waiting.push_back(&seen);
  }
  return waiting;
}

// The host that has one process fewer than all others have; empty: there is none.
std::string host_with_one_fewer(const std::vector<const ProcessSeen*>& processes,
                                std::size_t& hosts, std::size_t& on_others) {
  std::map<std::string, std::size_t> count;
  for (const ProcessSeen* seen : processes) ++count[seen->host];
  hosts = count.size();
  on_others = 0;
  for (const auto& [host, number] : count) on_others = std::max(on_others, number);
  std::string fewer;
  for (const auto& [host, number] : count) {
    if (number == on_others) continue;
    if (number + 1 != on_others || !fewer.empty() || host.empty()) return {};
    fewer = host;
  }
  return on_others >= 2 ? fewer : std::string();
}

// The rank that is missing among launchers' prefixes; nullopt: none is, or they are no ranks of the
// job.
std::optional<int> rank_left_out(const std::vector<const ProcessSeen*>& processes) {
  std::set<int> ranks;
  for (const ProcessSeen* seen : processes)
    if (seen->launcher_rank < 0 || !ranks.insert(seen->launcher_rank).second) return std::nullopt;
  if (ranks.size() < 2 || static_cast<std::size_t>(*ranks.rbegin()) != ranks.size())
    return std::nullopt;
  int expected = 0;
  for (int rank : ranks)
    if (rank != expected++) return expected - 1;
  return std::nullopt;
}

std::optional<Suspicion> fewer_processes(const View& view) {
  const std::vector<const ProcessSeen*> waiting = all_waiting_to_start(view);
  if (waiting.size() < 3) return std::nullopt;
  // A log that was cut while processes started may lack one of them for that reason alone.
  if (std::ranges::any_of(waiting, [&](const ProcessSeen* seen) {
        return view.job.sources().at(seen->source).end == SourceEnd::torn;
      }))
    return std::nullopt;
  std::size_t hosts = 0;
  std::size_t on_others = 0;
  std::string host = host_with_one_fewer(waiting, hosts, on_others);
  const std::optional<int> rank = rank_left_out(waiting);
  if (host.empty() && !rank) return std::nullopt;

  const Claim claim = rank && !host.empty() ? Claim::gap_in_both
                      : rank || hosts > 2   ? Claim::gap_in_numbers
                                            : Claim::gap_between_two_hosts;
  Suspicion suspicion = hang(Cause::launch_rank_missing, claim, waiting.front()->last.time);
  Finding& finding = suspicion.finding;
  if (rank) finding.subject.ranks = {*rank};
  if (!host.empty()) finding.subject.hosts = {host};
  finding.title = rank ? fmt::format(
                             "Rank {}{} printed nothing, and none of {} others got "
                             "a communicator",
                             *rank, host.empty() ? "" : " on " + host, waiting.size())
                       : fmt::format(
                             "{} has {} where every other host has {}, and no process "
                             "got a communicator",
                             host,
                             on_others == 2 ? "1 process of the job"
                                            : fmt::format("{} processes of the job", on_others - 1),
                             on_others);
  for (const ProcessSeen* seen : waiting) {
    if (finding.evidence.size() == kMostLines) break;
    if (host.empty() || seen->host == host) finding.evidence.push_back(view.evidence(seen->last));
  }
  return suspicion;
}

// All processes are there, none has a communicator, and one or a few got less far than the others.
std::optional<Suspicion> least_far_before_any_began(const View& view) {
  for (std::size_t member : view.members)
    if (view.member(member).init) return std::nullopt;
  std::vector<ProcessKey> processes;
  std::map<ProcessKey, const ProcessSeen*> seen_as;
  for (const ProcessSeen& seen : view.job.processes().all()) {
    if (!view.in_attempt(seen.process) || !seen.prints_init) continue;
    if (seen.began || is_live(view, seen.source)) return std::nullopt;
    processes.push_back(seen.process);
    seen_as[seen.process] = &seen;
  }
  const LeftBehind behind = left_behind_in_start(view, processes);
  if (behind.processes.empty()) return std::nullopt;
  Suspicion suspicion = hang(Cause::launch_rank_missing, Claim::start_not_so_far);
  Finding& finding = suspicion.finding;
  if (behind.one_line) suspicion.sure.add(Ground::one_line_tells);
  std::set<std::string> hosts;
  for (const ProcessKey& process : behind.processes) {
    const ProcessSeen& seen = *seen_as[process];
    hosts.insert(seen.host);
    if (seen.launcher_rank >= 0) finding.subject.ranks.push_back(seen.launcher_rank);
    if (finding.evidence.size() < kMostLines) finding.evidence.push_back(view.evidence(seen.last));
  }
  hosts.erase("");
  finding.subject.hosts = {hosts.begin(), hosts.end()};
  std::ranges::sort(finding.subject.ranks);
  const ProcessSeen& first = *seen_as[behind.processes.front()];
  finding.title = fmt::format(
      "{}{} got less far than {} others in starting up: no line of its {}, and no process got "
      "a communicator",
      first.launcher_rank >= 0 ? fmt::format("Rank {}", first.launcher_rank)
                               : fmt::format("Process {}", first.process.pid),
      first.host.empty() ? "" : " on " + first.host, processes.size() - behind.processes.size(),
      behind.stage);
  return suspicion;
}

}  // namespace

std::vector<Suspicion> find_missing_ranks(const View& view) {
  std::vector<Suspicion> found;
  std::vector<Start> nobodys;
  const LastFinished last_finished = last_finished_in(view);
  for (std::size_t which = 0; which < view.communicators.size(); ++which) {
    const std::optional<Start> start = start_of(view, last_finished, which);
    if (!start) continue;
    if (start->finished.empty() && (start->unseen.empty() || all_have_met(view, start->stuck))) {
      nobodys.push_back(*start);
    } else if (found.size() < kMostFindings) {
      auto missing = start->finished.empty() ? unseen(view, *start) : stuck(view, *start);
      if (missing) found.push_back(std::move(*missing));
    }
  }
  if (!nobodys.empty()) {
    auto last = least_far(view, nobodys);
    found.push_back(last ? std::move(*last) : nobody_finished(view, nobodys));
  }
  if (auto last = least_far_before_any_began(view)) found.push_back(std::move(*last));
  if (auto fewer = fewer_processes(view)) found.push_back(std::move(*fewer));
  return found;
}

}  // namespace faultline
