#include "rules/detect/stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

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

bool is_clear(const StackDivision& division) {
  return !division.elsewhere.empty() && division.waiting.size() >= 2 &&
         division.waiting.size() >= kFew * division.elsewhere.size() - 1;
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

}  // namespace

namespace {

// With one stack there is nothing to compare: reports what it shows, and accuses nobody.
std::vector<Suspicion> tell_where_one_stands(const View& view,
                                             const std::vector<StandingByStack>& all) {
  if (all.size() != 1 || !waits_for_others(all.front())) return {};
  const StandingByStack& only = all.front();
  Suspicion suspicion;
  suspicion.verdict = Verdict::unknown;
  suspicion.since = only.stack->line.time;
  Finding& finding = suspicion.finding;
  finding.cause = Cause::collective_stalled;
  finding.severity = Severity::info;
  const TorchCrew& crew = view.crew();
  finding.title = fmt::format(
      "{} {}; one stack alone does not show which rank it waits for",
      only.rank < 0 && only.pid == 0 ? "A process" : people(crew, {&only}, finding.subject),
      only.text());
  suspicion.sure = Claim::stack_off_the_line;
  suspicion.sure.add(Ground::no_part_named);
  finding.evidence.push_back(view.evidence(only.stack->line));
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
  if (!is_clear(division)) return tell_where_one_stands(view, all);
  const StandingByStack& first = *division.elsewhere.front();
  Suspicion suspicion =
      hang(Cause::collective_rank_behind,
           division.at_one_line ? Claim::stack_off_the_line : Claim::stack_not_in_collective,
           first.stack->line.time);
  Finding& finding = suspicion.finding;
  const TorchCrew& crew = view.crew();
  const std::string who = people(crew, division.elsewhere, finding.subject);
  finding.title = fmt::format(
      "{} {}, while the stacks of {} peers {}", who,
      division.elsewhere.size() == 1 ? first.text()
                                     : "are not in the collective (" + first.text() + ")",
      division.waiting.size(),
      division.at_one_line
          ? fmt::format("all stand at one line ({})", division.waiting.back()->meaning.frame)
          : fmt::format("wait in {}", division.waiting.front()->meaning.frame));
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
