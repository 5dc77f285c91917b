#include "rules/story/three_clocks.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace faultline {
namespace {

constexpr std::size_t kMostLines = 8;
constexpr std::size_t kLinesOfOneClock = 4;

enum class Clock { nccl, watchdog, recorder, stacks, none };

Clock clock_of(std::string_view detector) {
  if (detector == "flight") return Clock::recorder;
  if (detector == "stacks") return Clock::stacks;
  return detector == "torch" ? Clock::watchdog : Clock::nccl;
}

Clock clock_of(const Candidate& candidate) {
  const Clock clock = clock_of(candidate.detector);
  const std::string& cause = candidate.finding().cause;
  const bool of_calls = cause.starts_with("collective.") ||
                        cause.starts_with("software.collective_") ||
                        cause == "software.p2p_mismatch";
  return clock != Clock::nccl || of_calls ? clock : Clock::none;
}

// A clock that sees one call of each rank takes a call that was left out for one of another kind.
bool same_event(const std::string& a, const std::string& b) {
  const auto differs = [](const std::string& cause) {
    return cause == "software.collective_skipped" || cause == "software.collective_mismatch";
  };
  return a == b || (differs(a) && differs(b));
}

// Groups of one kind share their description.
bool is_the_only(const View& view, const std::string& description) {
  return std::ranges::count(view.job.flight().groups(), description, &FlightGroup::description) ==
         1;
}

// The communicators that consist of exactly the ranks of a process group that is named so.
std::set<std::string> communicators_like(const View& view, const std::string& group_text) {
  std::set<std::string> ids;
  if (group_text == "default_pg" || group_text == "group 0")
    for (const Communicator& communicator : view.communicators)
      if (communicator.nranks == view.roll.expected) ids.insert(communicator.id);
  for (const FlightGroup& group : view.job.flight().groups()) {
    const bool named = group_text == group.name || group_text == "group " + group.name ||
                       group_text == group.name + " (" + group.description + ")" ||
                       (group_text == group.description && is_the_only(view, group_text));
    if (!named || group.members.empty()) continue;
    for (const Communicator& communicator : view.communicators) {
      std::set<int> ranks;
      for (const std::size_t member : communicator.members)
        ranks.insert(view.worker_of(member).rank);
      if (std::ranges::equal(ranks, group.members)) ids.insert(communicator.id);
    }
  }
  return ids;
}

bool share_group(const View& view, const Finding& a, const Finding& b) {
  for (const std::string& name : a.subject.communicators) {
    if (std::ranges::find(b.subject.communicators, name) != b.subject.communicators.end())
      return true;
    const std::set<std::string> alike = communicators_like(view, name);
    if (std::ranges::any_of(b.subject.communicators,
                            [&](const std::string& other) { return alike.contains(other); }))
      return true;
  }
  return false;
}

bool tell_of_one(const View& view, const Candidate& one, const Candidate& other) {
  const Finding& a = one.finding();
  const Finding& b = other.finding();
  if (!is_of_calls(a.cause) || !is_of_calls(b.cause) || !same_event(a.cause, b.cause)) return false;
  // Where all have entered, some name the ranks and some only their group.
  if (a.cause == "collective.stalled") return share_group(view, a, b) || share_group(view, b, a);
  return !a.subject.ranks.empty() && a.subject.ranks == b.subject.ranks;
}

void add_lines(std::vector<Evidence>& to, const std::vector<Evidence>& from) {
  for (const Evidence& line : from)
    if (to.size() < kMostLines && std::ranges::find(to, line) == to.end()) to.push_back(line);
}

void add_all(std::vector<std::string>& to, const std::vector<std::string>& from) {
  for (const std::string& name : from)
    if (std::ranges::find(to, name) == to.end()) to.push_back(name);
}

// Which clock tells most of an event: a skipped call is more than one that differs; then who is
// surer, where NCCL's lines, which name communicators and GPUs, are given a start.
auto how_telling(const Candidate& candidate) {
  constexpr double kStart = 0.15;
  const double start = clock_of(candidate) == Clock::nccl ? kStart : 0;
  return std::make_tuple(candidate.finding().cause == "software.collective_skipped",
                         candidate.finding().confidence + start);
}

void join(Candidate& into, Candidate&& other) {
  Finding& finding = into.finding();
  Finding& again = other.finding();
  if (finding.evidence.size() > kLinesOfOneClock) finding.evidence.resize(kLinesOfOneClock);
  add_lines(finding.evidence, again.evidence);
  add_all(finding.subject.hosts, again.subject.hosts);
  add_all(finding.subject.gpus, again.subject.gpus);
  std::ranges::sort(finding.subject.hosts);
  std::ranges::sort(finding.subject.gpus);
  // NCCL's names for communicators are the ones that other findings know.
  if (finding.subject.communicators.empty() || clock_of(other) == Clock::nccl)
    if (!again.subject.communicators.empty())
      finding.subject.communicators = again.subject.communicators;
  for (Action& action : again.actions)
    if (std::ranges::find(finding.actions, action) == finding.actions.end())
      finding.actions.push_back(std::move(action));
  count_again(into.suspicion, other.suspicion);
  into.clocks.insert(into.clocks.end(), other.clocks.begin(), other.clocks.end());
}

}  // namespace

bool is_of_calls(const std::string& cause) {
  return cause == "collective.rank_behind" || cause == "collective.stalled" ||
         cause == "software.collective_skipped" || cause == "software.collective_mismatch" ||
         cause == "software.p2p_mismatch";
}

void join_clocks(const View& view, std::vector<Candidate>& candidates) {
  std::vector<bool> gone(candidates.size());
  for (Candidate& candidate : candidates) candidate.clocks = {candidate.detector};
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Clock clock = clock_of(candidates[i]);
    if (clock == Clock::nccl || clock == Clock::none) continue;
    std::size_t best = i;
    for (std::size_t k = 0; k < candidates.size(); ++k) {
      if (k == i || gone[k] || clock_of(candidates[k]) == Clock::none ||
          clock_of(candidates[k]) == clock_of(candidates[i]) ||
          !tell_of_one(view, candidates[i], candidates[k]))
        continue;
      // Nested communicators: the rank may be behind in several; its own clock says which is first.
      if (best == i || how_telling(candidates[best]) < how_telling(candidates[k])) best = k;
    }
    if (best == i) continue;
    if (how_telling(candidates[best]) < how_telling(candidates[i]))
      std::swap(candidates[best], candidates[i]);
    join(candidates[best], std::move(candidates[i]));
    gone[i] = true;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (!gone[i]) {
      if (kept != i) candidates[kept] = std::move(candidates[i]);
      ++kept;
    }
  candidates.resize(kept);
}

void call_witnesses(std::vector<Candidate>& candidates) {
  for (Candidate& cause : candidates) {
    if (!is_of_calls(cause.finding().cause)) continue;
    for (const std::size_t e : cause.effects) {
      const Candidate& effect = candidates[e];
      if (!effect.finding().cause.starts_with("collective.") || effect.finding().evidence.empty())
        continue;
      const auto same_clock = [&](std::string_view detector) {
        return clock_of(detector) == clock_of(effect.detector);
      };
      if (std::ranges::any_of(cause.clocks, same_clock)) continue;
      std::vector<Evidence>& lines = cause.finding().evidence;
      if (lines.size() >= kMostLines) lines.resize(kMostLines - 1);
      add_lines(lines, {effect.finding().evidence.front()});
      cause.clocks.push_back(effect.detector);
    }
  }
}

}  // namespace faultline
