#include "rules/detect/torch/ends.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "rules/knowledge/ground_names.h"
#include "rules/picture/read/closing_peers.h"
#include "rules/picture/read/gave_up_waiting.h"
#include "rules/picture/read/sayings.h"
#include "rules/picture/who/host_pid.h"
#include "rules/picture/who/kernel_logs.h"

namespace faultline {
namespace {

struct Ended {
  const TorchLine<ProcessExit>* line = nullptr;
  int rank = -1;
  std::string host;  // empty: no line says it

  const ProcessExit& exit() const { return line->fact; }
  bool for_memory() const {
    return exit().reason.find("Out Of Memory") != std::string::npos ||
           exit().reason.find("OOM") != std::string::npos;
  }
  bool by_fault() const {
    return exit().signal && (*exit().signal == 11 || *exit().signal == 7 || *exit().signal == 4 ||
                             *exit().signal == 8);
  }
  bool killed() const { return exit().signal == 9; }
  bool told_to() const { return exit().signal == 15; }
  bool aborted() const { return exit().signal == 6; }
};

// By source, the first line in which Slurm says that it ends a step: processes killed after it were
// killed by Slurm.
std::map<std::uint32_t, std::uint64_t> ends_of_steps(const View& view, const TorchCrew& crew) {
  std::map<std::uint32_t, std::uint64_t> ends;
  for (const TorchRank* rank : crew.ranks())
    for (const TorchSaying& saying : rank->said)
      if (const auto match = meaning_of(view, saying);
          match && match->signature->id.starts_with("slurm.")) {
        const auto [first, is_new] = ends.try_emplace(saying.line.source, saying.line.line);
        if (!is_new) first->second = std::min(first->second, saying.line.line);
      }
  return ends;
}

// The rank that a launcher means if it names a process only by its PID: NCCL's lines of the same
// source have the PID beside the host, and give the rank.
class NamedByNccl {
 public:
  explicit NamedByNccl(const View& view) {
    std::map<ProcessKey, int> ranks;
    for (const Worker& worker : view.workers.all) ranks.emplace(worker.process, worker.rank);
    for (const ProcessSeen& seen : view.job.processes().all()) {
      const auto rank = ranks.find(seen.process);
      const Person person{.rank = rank == ranks.end() ? -1 : rank->second, .host = seen.host};
      const auto [known, is_new] = by_pid_.try_emplace({seen.source, seen.process.pid}, person);
      if (!is_new && known->second != person) known->second = {};  // two containers, one PID
    }
  }

  void name(Ended& end) const {
    const auto known = by_pid_.find({end.line->line.source, end.exit().pid});
    if (end.exit().pid == 0 || known == by_pid_.end()) return;
    end.rank = known->second.rank;
    if (end.host.empty()) end.host = known->second.host;
  }

 private:
  struct Person {
    int rank = -1;
    std::string host;
    bool operator==(const Person&) const = default;
  };
  std::map<std::pair<std::uint32_t, std::int64_t>, Person> by_pid_;  // by source and pid
};

struct Ends {
  std::vector<Ended> by_themselves;
  std::vector<Ended> told_and_killed;  // by anybody, after their launcher had told them to end
  std::vector<Ended> aborted;          // by themselves, usually because of an earlier error
};

// Adds one for each rank that the launcher names, or one for a process without a rank.
void add_people(const View& view, Ended end, std::optional<NamedByNccl>& named_by_nccl,
                std::vector<Ended>& ends) {
  if (end.exit().ranks.empty()) {
    if (!named_by_nccl) named_by_nccl.emplace(view);
    named_by_nccl->name(end);
    ends.push_back(end);
  }
  for (const int rank : end.exit().ranks) {
    end.rank = rank;
    ends.push_back(end);
  }
}

// Lines about several tasks at once say how these were ended after the first one.
Ends ends_of(const View& view, const TorchCrew& crew) {
  Ends all;
  std::vector<Ended>& ends = all.by_themselves;
  NamedPids told_to_end;
  NamedPids in_table;  // torchrun's, which comes after its own line
  const auto pid_of = [&](const TorchLine<ProcessExit>& line) {
    return host_pid(view.job, line.fact.host, line.line.source, line.fact.pid);
  };
  for (const auto& line : view.job.torch().exits()) {
    if (line.fact.told_to) told_to_end.add(pid_of(line));
    if (!line.fact.ranks.empty() && line.fact.teller == "torchrun") in_table.add(pid_of(line));
  }
  const std::map<std::uint32_t, std::uint64_t> steps_ended = ends_of_steps(view, crew);
  std::optional<NamedByNccl> named_by_nccl;
  bool killed_one = false;
  for (const auto& line : view.job.torch().exits()) {
    const ProcessExit& exit = line.fact;
    if (exit.told_to || !crew.in_attempt(line.line)) continue;
    if (exit.exit_code == 0 && !exit.signal) continue;
    Ended end{.line = &line, .host = exit.host};
    if (told_to_end.contains(pid_of(line))) {
      if (end.killed() && exit.ranks.size() == 1) {
        end.rank = exit.ranks.front();
        all.told_and_killed.push_back(end);
      }
      continue;
    }
    if (end.told_to()) continue;
    if (exit.ranks.empty() && in_table.contains(pid_of(line))) continue;  // the table says more
    if (end.aborted()) {
      add_people(view, end, named_by_nccl, all.aborted);
      continue;
    }
    const auto step_ended = steps_ended.find(line.line.source);
    if (exit.teller == "srun" && end.killed() && !end.for_memory() &&
        step_ended != steps_ended.end() && step_ended->second < line.line.line)
      continue;
    const bool sweep = exit.teller == "srun" && exit.signal == 9 && !ends.empty() && killed_one;
    if (sweep) continue;
    killed_one = true;
    if (exit.ranks.size() > 1 && exit.teller == "srun" && exit.signal == 9) continue;
    add_people(view, end, named_by_nccl, ends);
  }
  return all;
}

constexpr std::int64_t kSweepUs = 10'000'000;

// Drops processes that the launcher killed while it cleaned up. It sends SIGKILL to what still runs
// about 30 s after the first process ended or a rank timed out: such a kill is a result, no cause.
void drop_who_was_swept_up(const View& view, const TorchCrew& crew, std::vector<Ended>& ends) {
  const GaveUpWaiting waits(view, crew);
  std::optional<std::int64_t> first;
  for (const Ended& end : ends)
    if (const auto& us = end.line->line.time.wall_us) first = std::min(first.value_or(*us), *us);
  std::erase_if(ends, [&](const Ended& end) {
    if (!end.killed()) return false;
    const auto& us = end.line->line.time.wall_us;
    return (first && us && *us - *first > kSweepUs) || waits.any_before(end.line->line);
  });
}

std::string name_of(const ProcessExit& exit, bool several) {
  if (!exit.signal && !exit.exit_code) return "ended with an error";
  if (!exit.signal) return fmt::format("ended with exit code {}", *exit.exit_code);
  switch (*exit.signal) {
    case 9:
      return several ? "were killed by SIGKILL" : "was killed by SIGKILL";
    case 11:
      return "died of a segmentation fault";
    case 7:
      return "died of a bus error";
    case 6:
      return "aborted (SIGABRT)";
    default:
      return fmt::format("died of signal {}", *exit.signal);
  }
}

// For a process whose rank no line gives.
std::string process_of(const Ended& end) {
  const ProcessExit& exit = end.exit();
  if (exit.teller == "kubernetes" && !end.host.empty()) return "Pod " + end.host;
  if (exit.local_rank < 0) return "A process";
  return fmt::format("Local rank {} (process {}{})", exit.local_rank, exit.pid,
                     end.host.empty() ? "" : " on " + end.host);
}

std::set<int> ranks_of(const std::vector<Ended>& ends) {
  std::set<int> ranks;
  for (const Ended& end : ends)
    if (end.rank >= 0) ranks.insert(end.rank);
  return ranks;
}

std::string people_of(const TorchCrew& crew, const std::vector<Ended>& ends) {
  const std::set<int> ranks = ranks_of(ends);
  return ranks.empty() ? process_of(ends.front()) : crew.people(ranks);
}

Suspicion describe_ends(const View& view, const TorchCrew& crew, const std::vector<Ended>& ends) {
  const std::set<int> ranks = ranks_of(ends);
  const Ended& first = ends.front();
  Suspicion suspicion;
  suspicion.since = first.line->line.time;
  suspicion.verdict = Verdict::failed;
  Finding& finding = suspicion.finding;
  finding.cause = first.for_memory() ? Cause::host_oom_killed : Cause::software_rank_crashed;
  finding.subject = crew.subject_of(ranks);
  if (finding.subject.hosts.empty() && !first.host.empty()) finding.subject.hosts = {first.host};
  // The process may be a rank that other lines are about, or none. A process that died of a fault
  // followed from nothing; but a local rank's own lines may say more.
  const bool by_itself = first.by_fault() && first.exit().local_rank < 0;
  if (ranks.empty() && !first.for_memory() && !by_itself) {
    finding.cause = Cause::process_aborted;
    suspicion.stops_job = true;
  }
  const std::string who = people_of(crew, ends);
  finding.title =
      first.for_memory()
          ? fmt::format("{} ended because memory ran out, says {}", who, first.exit().teller)
          : fmt::format("{} {}", who, name_of(first.exit(), ranks.size() > 1));
  suspicion.says_not_why = first.killed() && !first.for_memory();
  if (suspicion.says_not_why) finding.title += ", and no line says why";
  finding.severity = Severity::critical;
  suspicion.sure = first.for_memory() ? Claim::crash_out_of_memory
                   : first.by_fault() ? Claim::crash_faulted
                   : first.killed()   ? Claim::crash_killed
                                      : Claim::crash_ended;
  if (ranks.size() > 1 && !first.for_memory()) suspicion.sure.add(Ground::several_ended);
  finding.count = ends.size();
  for (const Ended& end : ends)
    if (finding.evidence.size() < 3) finding.evidence.push_back(view.evidence(end.line->line));
  if (suspicion.says_not_why)
    finding.actions.push_back({"See whether the kernel or the cgroup killed it for memory.",
                               finding.subject.hosts.empty() ? "" : finding.subject.hosts.front(),
                               "dmesg -T | grep -E 'oom|Killed process'"});
  if (ranks.empty() && first.exit().exit_code && !first.exit().signal)
    finding.actions.push_back(
        {"Read its own last lines: its error comes before what its launcher prints.", "", ""});
  return suspicion;
}

// Programs abort because of an earlier error; the abort is all that is known of it.
Suspicion describe_aborts(const View& view, const TorchCrew& crew, const std::vector<Ended>& ends) {
  Suspicion suspicion = describe_ends(view, crew, ends);
  suspicion.sure = Claim::crash_aborted;
  suspicion.stops_job = true;
  Finding& finding = suspicion.finding;
  finding.actions.push_back(
      {"Read its own last lines: what made it abort comes before what its launcher or shell "
       "prints.",
       "", ""});
  return suspicion;
}

// A kill comes from outside. If only a launcher reports it, and no line names a sender, it was
// mostly the kernel, for lack of memory; the kernel's log would show it.
std::optional<Suspicion> killed_perhaps_for_memory(const View& view, const std::string& who,
                                                   const Suspicion& kill) {
  const Subject& whose = kill.finding.subject;
  if (whose.ranks.empty() || !view.workers.all.empty()) return std::nullopt;
  const std::set<std::string> heard = hosts_with_kernel_log(view);
  if (whose.hosts.empty() ? !heard.empty()
                          : std::ranges::any_of(whose.hosts, [&](const std::string& host) {
                              return heard.contains(host) || heard.contains("");
                            }))
    return std::nullopt;
  Suspicion suspicion = kill;
  suspicion.says_not_why = false;
  suspicion.sure = Claim::killed_perhaps_for_memory;
  suspicion.finding.cause = Cause::host_oom_killed;
  suspicion.finding.title = fmt::format(
      "{} may have been killed for memory: the kernel ends processes with SIGKILL, and no "
      "line names another sender",
      who);
  return suspicion;
}

// The kernel kills one process for memory, and looks whether that was enough. If all processes of a
// job are killed at once, somebody else does it.
bool all_were_killed(const View& view, const TorchCrew& crew, const std::vector<Ended>& ends) {
  constexpr std::size_t kLeast = 3;
  const std::set<int> ranks = ranks_of(ends);
  if (ranks.size() < kLeast || !std::ranges::all_of(ends, &Ended::killed)) return false;
  const auto is_of_them = [&](int rank) { return ranks.contains(rank); };
  return std::ranges::all_of(crew.world(), is_of_them) &&
         std::ranges::all_of(view.job.torch().exits(), [&](const TorchLine<ProcessExit>& line) {
           return !crew.in_attempt(line.line) || std::ranges::all_of(line.fact.ranks, is_of_them);
         });
}

// Launchers wait about 30 s between SIGTERM and SIGKILL. A process that is killed sooner was killed
// from outside together with the first one; neither began it.
bool add_who_was_killed_with_it(const std::vector<Ended>& told_and_killed,
                                std::vector<Ended>& ends) {
  const auto& first = ends.front().line->line.time.wall_us;
  const std::size_t before = ends.size();
  std::ranges::copy_if(told_and_killed, std::back_inserter(ends), [&](const Ended& end) {
    const auto& us = end.line->line.time.wall_us;
    return first && us && std::abs(*us - *first) <= kSweepUs;
  });
  return ends.size() > before;
}

// An exception leaves 1 behind, and a signal 128 or more. Codes from 64 on have conventional
// meanings, such as 'try again later' and 'timed out'; those between are the program's own.
bool chose_its_code(const Ended& end) {
  constexpr int kFirstByConvention = 64;
  const ProcessExit& exit = end.exit();
  return !exit.signal && exit.exit_code && *exit.exit_code > 1 &&
         *exit.exit_code < kFirstByConvention;
}

// A rank that raised something may pass on with its code that others failed.
bool raised_something(const TorchCrew& crew, int rank) {
  return std::ranges::any_of(crew.ranks(), [&](const TorchRank* one) {
    return one->rank == rank && std::ranges::any_of(one->said, [](const TorchSaying& saying) {
             return saying.exception.has_value();
           });
  });
}

// A watchdog that ends its process reports a hang, and its own line says so.
std::set<int> ended_by_watchdogs(const TorchCrew& crew) {
  std::set<int> ranks;
  for (const TorchRank* one : crew.ranks())
    if (one->rank >= 0 && !one->guessed && one->stuck) ranks.insert(one->rank);
  return ranks;
}

// A rank that ended alone, and whose host closed the connections that the others complain about,
// followed nobody.
bool was_the_first_to_go(const View& view, const TorchCrew& crew, const std::vector<Ended>& ends) {
  const Ended& end = ends.front();
  return ends.size() == 1 && end.rank >= 0 && !end.host.empty() &&
         !raised_something(crew, end.rank) &&
         hosts_that_closed(view).contains(short_host(end.host));
}

bool between_seconds(const EventTime& a, const EventTime& b) {
  constexpr std::int64_t kAtOnce = 2'000'000;  // launchers look every second or so
  return !a.wall_us || !b.wall_us || *b.wall_us - *a.wall_us <= kAtOnce;
}

}  // namespace

void add_ends(const View& view, const TorchCrew& crew, Exceptions exceptions,
              std::vector<Suspicion>& found) {
  Ends all = ends_of(view, crew);
  std::vector<Ended>& ends = all.by_themselves;
  std::vector<Ended> for_memory;
  std::ranges::copy_if(ends, std::back_inserter(for_memory), &Ended::for_memory);
  if (!for_memory.empty()) found.push_back(describe_ends(view, crew, for_memory));
  std::erase_if(ends, &Ended::for_memory);
  drop_who_was_swept_up(view, crew, ends);
  const std::set<int> by_watchdogs = ended_by_watchdogs(crew);
  std::erase_if(all.aborted, [&](const Ended& end) { return by_watchdogs.contains(end.rank); });
  if (for_memory.empty() && ends.empty() && exceptions == Exceptions::none && !all.aborted.empty())
    found.push_back(describe_aborts(view, crew, all.aborted));
  if (!for_memory.empty() || ends.empty()) return;

  // If several chose their codes, they may have agreed on them.
  const bool one_chose = std::ranges::count_if(ends, chose_its_code) == 1;
  // Faults and kills say more than codes, which a Python exception leaves behind.
  const bool harder =
      std::ranges::any_of(ends, [](const Ended& e) { return e.by_fault() || e.killed(); });
  if (harder)
    std::erase_if(ends, [](const Ended& e) { return !e.by_fault() && !e.killed(); });
  else if (exceptions == Exceptions::tell_why)
    return;
  else if (exceptions == Exceptions::follow && ends.size() > 1)
    // The launcher knows which process ended first, whatever others say.
    std::erase_if(ends, [](const Ended& e) { return !e.exit().first; });
  if (ends.empty()) return;
  const auto earlier = [](const Ended& a, const Ended& b) {
    return a.line->line.time.wall_us.value_or(0) < b.line->line.time.wall_us.value_or(0);
  };
  std::ranges::stable_sort(ends, earlier);
  const EventTime begin = ends.front().line->line.time;
  std::erase_if(ends, [&](const Ended& e) { return !between_seconds(begin, e.line->line.time); });
  if (std::ranges::any_of(ends, [](const Ended& e) { return e.exit().first; }))
    std::stable_partition(ends.begin(), ends.end(), [](const Ended& e) { return e.exit().first; });
  if (harder) {
    // Other signals are other stories: only processes with the signal of the first one stay.
    const auto signal = ends.front().exit().signal;
    std::erase_if(ends, [&](const Ended& e) { return e.exit().signal != signal; });
  }
  const bool from_outside =
      ends.front().killed() &&
      (add_who_was_killed_with_it(all.told_and_killed, ends) || all_were_killed(view, crew, ends));
  found.push_back(describe_ends(view, crew, ends));
  if (from_outside) {
    found.back().finding.cause = Cause::process_aborted;
    found.back().stops_job = true;
  }
  if (exceptions == Exceptions::tell_why) found.back().sure.add(Ground::beside_an_exception);
  if (exceptions == Exceptions::none && found.back().says_not_why && !from_outside)
    if (auto perhaps = killed_perhaps_for_memory(view, people_of(crew, ends), found.back()))
      found.push_back(std::move(*perhaps));
  // Being the first does not make it the one that failed: the log that would show that is missing.
  if (!harder && exceptions == Exceptions::follow &&
      !(one_chose && ends.front().exit().first && chose_its_code(ends.front()) &&
        !raised_something(crew, ends.front().rank))) {
    found.back().stops_job = true;
    if (was_the_first_to_go(view, crew, ends))
      found.back().says_not_why = true;
    else
      found.back().finding.cause = Cause::process_aborted;
  }
}

}  // namespace faultline
