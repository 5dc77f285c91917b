#include "rules/detect/torch/timeouts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "rules/detect/detector.h"
#include "rules/detect/stall.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/prose.h"
#include "rules/picture/calls/stuck_groups.h"
#include "rules/picture/when/clock_in_words.h"

namespace faultline {
namespace {

// PyTorch's time stamps count seconds: they show in which of several calls ranks waited first only
// if it is earlier by more than that.
std::string place_of(const std::vector<StuckGroup>& all) {
  constexpr std::int64_t kSecond = 1'000'000;
  const StuckGroup& first = first_stuck(all);
  const auto began = waited_since(first);
  std::vector<std::string> as_early;
  for (const StuckGroup& stuck : all)
    if (const auto its = waited_since(stuck); !began || !its || *its <= *began + kSecond)
      as_early.push_back(stuck.place());
  if (as_early.size() == 1) return ", first in " + first.place();
  if (as_early.size() == 2) return fmt::format(" in {}", fmt::join(as_early, " and "));
  return fmt::format(" in {} and {} other calls", first.place(), as_early.size() - 1);
}

Suspicion describe_timeout(const View& view, const TorchCrew& crew,
                           const std::vector<StuckGroup>& all) {
  const StuckGroup& stuck = first_stuck(all);
  std::set<int> reporters;
  EventTime start;
  const TimedOut* first = nullptr;
  for (const StuckGroup& each : all)
    for (const TimedOut& wait : each.waits) {
      reporters.insert(wait.rank);
      if (const EventTime began = called_at(*wait.timeout);
          began.wall_us && (!start.wall_us || *began.wall_us < *start.wall_us))
        start = began;
      if (first == nullptr ||
          order_of(wait.timeout->line.time, first->timeout->line.time, false) == Order::before)
        first = &wait;
    }
  if (reporters.size() > 1) reporters.erase(-1);
  const bool in_one_call = std::ranges::includes(stuck.waiting, reporters);
  std::set<int> told;
  for (const TorchRank* rank : crew.ranks())
    if (rank->signalled && !reporters.contains(rank->rank)) told.insert(rank->rank);
  for (const TorchRank* rank : crew.ranks())
    if (rank->told_by >= 0) {
      reporters.insert(rank->told_by);
      told.erase(rank->told_by);
    }

  Suspicion suspicion =
      hang(Cause::collective_timeout, Claim::timeout_only, first->timeout->line.time);
  Finding& finding = suspicion.finding;
  finding.title = fmt::format("{} timed out{}", crew.people(reporters),
                              in_one_call ? " in " + stuck.place() : place_of(all));
  if (start.known()) {
    finding.title += fmt::format(", waiting since {}", clock_in_words(start));
    finding.first_seen = start.wall();
  }
  if (!told.empty())
    finding.title +=
        fmt::format("; {} only heard of it from them", in_a_sentence(crew.people(told)));
  finding.count = reporters.size();
  if (!stuck.group.empty()) finding.subject.communicators = {stuck.name()};
  finding.evidence.push_back(view.evidence(first->timeout->line));
  for (const TimedOut& wait : stuck.waits)
    if (&wait != first && finding.evidence.size() < kMostLines && wait.sequence() == stuck.sequence)
      finding.evidence.push_back(view.evidence(wait.timeout->line));
  return suspicion;
}

// Whether all ranks that wait sent dumps, which say all that their lines say, and more.
bool dumps_tell(const View& view, const std::vector<StuckGroup>& all) {
  const Flight& flight = view.job.flight();
  if (flight.dumps().empty()) return false;
  const auto latest = flight.latest();
  return std::ranges::all_of(all, [&](const StuckGroup& stuck) {
    return std::ranges::all_of(stuck.waiting, [&](int rank) {
      const auto known = latest.find(rank);
      return known != latest.end() && flight.dumps()[known->second].about.has_entries;
    });
  });
}

// That ranks were taken down by time-outs, though no time-out's own line is here.
Suspicion suspect_time_out(const View& view, const LineRef& first, std::string title) {
  Suspicion suspicion = hang(Cause::collective_timeout, Claim::timeout_only, first.time);
  Finding& finding = suspicion.finding;
  finding.title = std::move(title);
  finding.evidence.push_back(view.evidence(first));
  return suspicion;
}

// A time-out that ranks only heard of: the log of the rank that had it is not here.
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
  return {suspect_time_out(
      view, *first->signalled,
      by.empty() ? fmt::format("{} learned of a time-out elsewhere", crew.people(told))
                 : fmt::format("{} timed out in a collective; {} learned of it", crew.people(by),
                               crew.people(told)))};
}

// PyTorch ends a process whose watchdog itself stands still: a call into CUDA or NCCL does not
// return, or a thread holds Python's lock. One that timed out, or was told of a time-out, stood
// still while it waited for that.
bool stood_by_itself(const TorchCrew& crew, const TorchRank& rank) {
  return rank.stuck && crew.in_attempt(*rank.stuck) &&
         !(rank.signalled && crew.in_attempt(*rank.signalled)) &&
         std::ranges::none_of(rank.timeouts, [&](const TorchTimeout& timeout) {
           return crew.in_attempt(timeout.line);
         });
}

// `beside_time_outs`: what names no rank, or only a rank of a smaller group, may be one that timed
// out.
std::vector<Suspicion> watchdogs_that_stood(const View& view, const TorchCrew& crew,
                                            bool beside_time_outs) {
  std::set<int> ranks;
  std::vector<const LineRef*> lines;
  bool gil = false;
  for (const TorchRank* rank : crew.ranks()) {
    if (!stood_by_itself(crew, *rank)) continue;
    if (beside_time_outs && (rank->rank < 0 || rank->guessed)) continue;
    lines.push_back(&*rank->stuck);
    gil |= rank->gil;
    ranks.insert(rank->rank);
  }
  if (lines.empty()) return {};
  if (ranks.size() > 1) ranks.erase(-1);
  Suspicion suspicion = suspect_time_out(
      view, *lines.front(),
      fmt::format("{} ended because {} watchdog {}", crew.people(ranks),
                  ranks.size() == 1 ? "its" : "their",
                  gil ? "could not take Python's lock" : "made no progress in NCCL or CUDA"));
  Finding& finding = suspicion.finding;
  finding.count = ranks.size();
  finding.subject = crew.subject_of(ranks);
  for (std::size_t i = 1; i < lines.size() && finding.evidence.size() < kMostLines; ++i)
    finding.evidence.push_back(view.evidence(*lines[i]));
  return {std::move(suspicion)};
}

}  // namespace

std::vector<Suspicion> find_torch_timeouts(const View& view, const TorchCrew& crew) {
  const std::vector<StuckGroup> all = stuck_groups(crew);
  if (all.empty()) {
    std::vector<Suspicion> told = only_told(view, crew);
    return told.empty() ? watchdogs_that_stood(view, crew, false) : told;
  }
  if (dumps_tell(view, all)) return {describe_timeout(view, crew, all)};
  std::vector<Suspicion> found = find_stalls_in(view, table_of_timeouts(view, crew, all));
  const bool decided = std::ranges::any_of(found, [](const Suspicion& suspicion) {
    return suspicion.finding.cause != Cause::collective_stalled;
  });
  if (!decided)
    std::ranges::move(find_stalls_in(view, table_of_the_free(view, crew, all)),
                      std::back_inserter(found));
  for (Suspicion& suspicion : found)
    if (suspicion.finding.cause == Cause::collective_rank_behind) {
      const Subject& subject = suspicion.finding.subject;
      suspicion.finding.actions.push_back(
          {"See where the rank stands: a data loader, a checkpoint, another branch, an exception "
           "that was caught.",
           subject.hosts.empty() ? "" : subject.hosts.front(), "py-spy dump --pid {pid}"});
    }
  found.push_back(describe_timeout(view, crew, all));
  for (Suspicion& stood : watchdogs_that_stood(view, crew, true)) {
    stood.finding.severity = Severity::info;
    stood.sure.add(Ground::no_part_named);
    found.push_back(std::move(stood));
  }
  return found;
}

}  // namespace faultline
