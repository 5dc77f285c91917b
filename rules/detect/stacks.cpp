#include "rules/detect/stacks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "rules/knowledge/ground_names.h"
#include "rules/picture/calls/stacks.h"
#include "rules/picture/who/torch_crew.h"

namespace faultline {
namespace {

constexpr std::size_t kFew = 3;  // times as many must wait

using Standings = std::vector<const StandingByStack*>;

bool waits_for_others(const StandingByStack& standing) {
  return standing.wait() != StackWait::nothing;
}

// Ranks that wait, and ranks that do something else. If C code makes the call that waits, the stack
// ends at a line of the user's code; then most ranks stand at the same line.
struct StackDivision {
  Standings waiting;
  Standings elsewhere;
  bool at_one_line = false;
};

StackDivision divide_by_stack(const std::vector<StandingByStack>& all) {
  StackDivision division;
  std::map<std::string_view, Standings> by_frame;
  for (const StandingByStack& standing : all) {
    (waits_for_others(standing) ? division.waiting : division.elsewhere).push_back(&standing);
    if (standing.meaning.known == nullptr && !standing.meaning.frame.empty())
      by_frame[standing.meaning.frame].push_back(&standing);
  }
  if (2 * division.waiting.size() >= all.size() || by_frame.empty()) return division;
  const auto most =
      std::ranges::max_element(by_frame, {}, [](const auto& entry) { return entry.second.size(); });
  if (most->second.size() < kFew) return division;
  division.at_one_line = true;
  // A rank in a collective may have reached the same wait by another path.
  division.waiting.insert(division.waiting.end(), most->second.begin(), most->second.end());
  std::erase_if(division.elsewhere, [&](const StandingByStack* standing) {
    return standing->meaning.frame == most->first || standing->meaning.known == nullptr;
  });
  return division;
}

std::string what_peers_do(const StackDivision& division, const std::set<std::string_view>& calls) {
  if (division.at_one_line)
    return fmt::format("all stand at one line ({})", division.waiting.back()->meaning.frame);
  if (calls.size() > 1) return fmt::format("wait in several calls ({})", fmt::join(calls, ", "));
  return fmt::format("wait in {}", division.waiting.front()->meaning.frame);
}

bool is_clear(const StackDivision& division) {
  return !division.elsewhere.empty() && division.waiting.size() >= 2 &&
         division.waiting.size() >= kFew * division.elsewhere.size() - 1;
}

// Which collective a function of Python is, whatever its variant: gather_object waits in gather.
// Empty: none in particular, as wait or synchronize.
std::string_view collective_of(std::string_view function) {
  constexpr std::string_view kCollectives[] = {
      "reduce_scatter", "all_reduce", "allreduce", "all_gather", "allgather", "all_to_all",
      "broadcast",      "barrier",    "gather",    "scatter",    "reduce"};
  for (const std::string_view collective : kCollectives)
    if (function.find(collective) != std::string_view::npos) return collective;
  // One end of a transfer sends, the other receives.
  const bool transfers = function.find("send") != std::string_view::npos ||
                         function.find("recv") != std::string_view::npos;
  return transfers ? "send or recv" : "";
}

// The collectives that they wait in by frames of Python: C++ has many frames for one call.
std::set<std::string_view> calls_of(const Standings& waiting) {
  std::set<std::string_view> calls;
  for (const StandingByStack* standing : waiting) {
    const StackFrame frame = frame_of(standing->meaning.frame);
    if (standing->wait() == StackWait::collective &&
        frame.place.find(".py") != std::string_view::npos)
      calls.insert(collective_of(frame.function));
  }
  calls.erase("");
  return calls;
}

std::string people(const TorchCrew& crew, const Standings& standings, Subject& subject) {
  std::set<int> ranks;
  std::set<std::string> hosts;
  for (const StandingByStack* standing : standings) {
    if (standing->rank >= 0) ranks.insert(standing->rank);
    if (!standing->host.empty()) hosts.insert(standing->host);
  }
  subject = crew.subject_of(ranks);
  subject.hosts.assign(hosts.begin(), hosts.end());
  if (ranks.size() == standings.size()) {
    if (ranks.size() == 1 && hosts.size() == 1)
      return fmt::format("Rank {} on {}", *ranks.begin(), *hosts.begin());
    return crew.people(ranks);
  }
  if (standings.size() > 1) return fmt::format("{} processes", standings.size());
  return hosts.empty() ? fmt::format("Process {}", standings.front()->pid)
                       : fmt::format("Process {} on {}", standings.front()->pid, *hosts.begin());
}

// Those that do the same, the most first.
std::vector<Standings> alike(const std::vector<StandingByStack>& all) {
  std::map<std::pair<const FrameMeaning*, std::string_view>, Standings> by_doing;
  for (const StandingByStack& standing : all) {
    const FrameMeaning* known = standing.meaning.known;
    by_doing[{known, known != nullptr ? std::string_view() : standing.meaning.frame}].push_back(
        &standing);
  }
  std::vector<Standings> groups;
  for (auto& [doing, standings] : by_doing) groups.push_back(std::move(standings));
  std::ranges::sort(groups, [](const Standings& a, const Standings& b) {
    const LineRef& first = a.front()->stack->line;
    const LineRef& other = b.front()->stack->line;
    return std::tuple(b.size(), first.source, first.line) <
           std::tuple(a.size(), other.source, other.line);
  });
  return groups;
}

std::string what_is_open(const std::vector<StandingByStack>& all) {
  const auto waiting = static_cast<std::size_t>(std::ranges::count_if(all, waits_for_others));
  const bool alone = all.size() == 1;
  if (waiting == all.size())
    return alone ? "one stack alone does not show which rank it waits for"
                 : "no stack shows which rank they wait for";
  if (waiting == 0)
    return alone ? "one stack alone does not show whether others wait for it"
                 : "no stack waits in a collective";
  return "the stacks do not show who waits for whom";
}

// What all of them do. They may do it in several places.
std::string what_they_do(const Standings& group) {
  StandingByStack one = *group.front();
  for (const StandingByStack* other : group) {
    if (other->meaning.frame != one.meaning.frame) one.meaning.frame = {};
    one.gil &= other->gil;
  }
  return (group.size() == 1 ? "" : "each ") + one.text();
}

// Where the stacks do not show who is behind: reports what they show, and accuses nobody.
std::vector<Suspicion> tell_where_they_stand(const View& view,
                                             const std::vector<StandingByStack>& all) {
  constexpr std::size_t kMostGroups = 2;
  if (std::ranges::all_of(all, [](const StandingByStack& standing) {
        return standing.meaning.known == nullptr && standing.meaning.frame.empty();
      }))
    return {};
  Suspicion suspicion;
  // Stacks of a job that goes on look like this, too. Who takes one stack asks why its rank waits.
  suspicion.verdict =
      all.size() == 1 && waits_for_others(all.front()) ? Verdict::unknown : Verdict::healthy;
  suspicion.since = all.front().stack->line.time;
  Finding& finding = suspicion.finding;
  finding.cause = Cause::collective_stalled;
  finding.severity = Severity::info;
  const TorchCrew& crew = view.crew();
  std::size_t left = all.size();
  for (const Standings& group : alike(all)) {
    if (finding.evidence.size() == kMostGroups) break;
    const StandingByStack& first = *group.front();
    const bool nameless = group.size() == 1 && first.rank < 0 && first.pid == 0;
    Subject subject;
    const std::string who = nameless ? "A process" : people(crew, group, subject);
    finding.title +=
        fmt::format("{}{} {}; ", who, group.size() == 1 ? "" : ":", what_they_do(group));
    if (group.size() == all.size()) finding.subject = std::move(subject);
    finding.evidence.push_back(view.evidence(first.stack->line));
    left -= group.size();
  }
  if (left > 0)
    finding.title += fmt::format("{} more {} something else; ", left, left == 1 ? "does" : "do");
  finding.title += what_is_open(all);
  suspicion.sure = Claim::stack_off_the_line;
  suspicion.sure.add(Ground::no_part_named);
  finding.actions.push_back(
      {"Take the stacks of all ranks at the same time: the others wait for the rank whose stack is "
       "elsewhere.",
       "", "py-spy dump --pid \"${PID:?the process of a rank}\""});
  return {std::move(suspicion)};
}

}  // namespace

std::vector<Suspicion> find_elsewhere_by_stacks(const View& view) {
  if (view.job.torch().stacks().empty()) return {};
  const std::vector<StandingByStack>& all = view.stacks().all;
  const StackDivision division = divide_by_stack(all);
  if (!is_clear(division)) return tell_where_they_stand(view, all);
  const StandingByStack& first = *division.elsewhere.front();
  Suspicion suspicion =
      hang(Cause::collective_rank_behind,
           division.at_one_line ? Claim::stack_off_the_line : Claim::stack_not_in_collective,
           first.stack->line.time);
  const std::set<std::string_view> calls = calls_of(division.waiting);
  if (calls.size() > 1) suspicion.sure.add(Ground::peers_in_several_calls);
  Finding& finding = suspicion.finding;
  const TorchCrew& crew = view.crew();
  const std::string who = people(crew, division.elsewhere, finding.subject);
  finding.title = fmt::format("{} {}, while the stacks of {} peers {}", who,
                              division.elsewhere.size() == 1
                                  ? first.text()
                                  : "are not in the collective (" + first.text() + ")",
                              division.waiting.size(), what_peers_do(division, calls));
  for (const StandingByStack* standing : division.elsewhere)
    if (finding.evidence.size() + 1 < kMostLines)
      finding.evidence.push_back(view.evidence(standing->stack->line));
  finding.evidence.push_back(view.evidence(division.waiting.front()->stack->line));
  return {std::move(suspicion)};
}

void add_what_it_does(const View& view, Finding& finding) {
  if (view.job.torch().stacks().empty()) return;
  const StandingsByStack& stacks = view.stacks();
  const std::vector<int>& ranks = finding.subject.ranks;
  std::set<std::size_t> busy;
  for (const int rank : ranks)
    if (const auto known = stacks.of_rank.find(rank);
        known != stacks.of_rank.end() && !waits_for_others(stacks.all[known->second]))
      busy.insert(known->second);
  if (busy.empty()) return;
  const StandingByStack& standing = stacks.all[*busy.begin()];
  finding.title += ranks.size() == 1 ? fmt::format("; it {}", standing.text())
                                     : fmt::format("; rank {} {}", standing.rank, standing.text());
  Evidence line = view.evidence(standing.stack->line);
  if (finding.evidence.size() < kMostLines &&
      std::ranges::find(finding.evidence, line) == finding.evidence.end())
    finding.evidence.push_back(std::move(line));
}

}  // namespace faultline
