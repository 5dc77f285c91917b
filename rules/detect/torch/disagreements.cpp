#include "rules/detect/torch/disagreements.h"
#include "rules/knowledge/ground_names.h"

#include <fmt/format.h>

#include <algorithm>

namespace faultline {
namespace {

constexpr std::size_t kMostLines = 4;

std::string call_of(const CalledCollective& called) {
  std::string text = called.operation;
  if (called.sequence) text += fmt::format("{}#{}", text.empty() ? "" : " ", *called.sequence);
  if (!called.shape.empty()) text += fmt::format(" [{}]", called.shape);
  return text;
}

std::vector<Suspicion> find_different_calls(const View& view, const TorchCrew& crew) {
  std::map<int, std::string> call_of_rank;
  std::vector<const TorchLine<CalledCollective>*> lines;
  for (const auto& called : view.job.torch().called()) {
    if (!crew.in_attempt(called.line)) continue;
    if (call_of_rank.emplace(called.fact.rank, call_of(called.fact)).second)
      lines.push_back(&called);
  }
  std::map<std::string, std::set<int>> by_call;
  for (const auto& [rank, call] : call_of_rank) by_call[call].insert(rank);
  if (by_call.size() < 2) return {};
  const auto usual =
      std::ranges::max_element(by_call, {}, [](const auto& entry) { return entry.second.size(); });
  const bool decided = usual->second.size() * 2 > call_of_rank.size();
  std::set<int> odd;
  std::vector<std::string> texts;
  for (const auto& [call, ranks] : by_call) {
    if (!decided || call != usual->first) odd.insert(ranks.begin(), ranks.end());
    if (texts.size() < kMostLines) texts.push_back(fmt::format("{} {}", crew.people(ranks), call));
  }

  Suspicion suspicion;
  suspicion.verdict = Verdict::failed;
  suspicion.since = lines.front()->line.time;
  Finding& finding = suspicion.finding;
  finding.cause = "software.collective_mismatch";
  finding.title = fmt::format("Ranks called different things: {}", fmt::join(texts, "; "));
  finding.severity = Severity::critical;
  suspicion.sure = decided ? Claim::desync_by_majority : Claim::desync_of_two;
  finding.subject = crew.subject_of(odd);
  for (const auto* line : lines)
    if (finding.evidence.size() < kMostLines) {
      const Evidence evidence = view.evidence(line->line);
      if (std::ranges::find(finding.evidence, evidence) == finding.evidence.end())
        finding.evidence.push_back(evidence);
    }
  return {std::move(suspicion)};
}

Suspicion behind(const View& view, const TorchCrew& crew, const std::set<int>& ranks,
                 const LineRef& line, std::string title, Claim claim) {
  Suspicion suspicion;
  suspicion.stops_job = true;
  suspicion.verdict = Verdict::hang;
  suspicion.since = line.time;
  Finding& finding = suspicion.finding;
  finding.cause = "collective.rank_behind";
  finding.title = std::move(title);
  finding.severity = Severity::critical;
  suspicion.sure = claim;
  finding.subject = crew.subject_of(ranks);
  finding.evidence.push_back(view.evidence(line));
  return suspicion;
}

std::vector<Suspicion> find_missed_barriers(const View& view, const TorchCrew& crew) {
  // A complete list says more than the first of them.
  const TorchLine<BarrierMissed>* telling = nullptr;
  for (const auto& barrier : view.job.torch().barriers())
    if (crew.in_attempt(barrier.line) && !barrier.fact.ranks.empty() &&
        (telling == nullptr || (barrier.fact.all_named && !telling->fact.all_named)))
      telling = &barrier;
  if (telling == nullptr) return {};
  const std::set<int> ranks(telling->fact.ranks.begin(), telling->fact.ranks.end());
  return {behind(view, crew, ranks, telling->line,
                 fmt::format("{} did not come to monitored_barrier within {} ms{}",
                             crew.people(ranks), telling->fact.timeout_ms,
                             telling->fact.all_named ? "" : "; others may be missing, too"),
                 Claim::desync_barrier)};
}

std::vector<Suspicion> find_laggards(const View& view, const TorchCrew& crew) {
  std::set<int> ranks;
  const LineRef* line = nullptr;
  std::optional<std::uint64_t> lowest;
  for (const auto& entry : view.job.torch().desync()) {
    if (!crew.in_attempt(entry.line)) continue;
    const std::string& what = entry.fact.what;
    if (what != "never_joined" && what != "not_joined") continue;
    const std::uint64_t at = what == "never_joined" ? 0 : entry.fact.sequence.value_or(0);
    if (lowest && at > *lowest) continue;
    if (!lowest || at < *lowest) ranks.clear();
    lowest = at;
    ranks.insert(entry.fact.ranks.begin(), entry.fact.ranks.end());
    if (line == nullptr) line = &entry.line;
  }
  if (line == nullptr || ranks.empty()) return {};
  const std::string where =
      *lowest > 0 ? fmt::format(" collective {}", *lowest) : std::string(" any collective");
  return {
      behind(view, crew, ranks, *line,
             fmt::format("{} did not join{}, says the desync report", crew.people(ranks), where),
             Claim::desync_lagging)};
}

// Who makes calls after it was listed had only been late.
bool went_on_after(const View& view, const LineRef& line) {
  return std::ranges::any_of(view.members, [&](std::size_t member) {
    const LineRef& last = view.member(member).last_line;
    return last.known() && said_order(line, last) == Order::before;
  });
}

std::vector<Suspicion> find_not_submitted(const View& view, const TorchCrew& crew) {
  const TorchLine<DesyncEntry>* last = nullptr;
  std::set<int> ranks;  // that are missing wherever one is: others may only wait elsewhere
  for (const auto& entry : view.job.torch().desync()) {
    if (entry.fact.what != "not_submitted" || !crew.in_attempt(entry.line)) continue;
    const std::set<int> missing(entry.fact.ranks.begin(), entry.fact.ranks.end());
    if (last == nullptr || last->line.source != entry.line.source)
      ranks = missing;
    else
      std::erase_if(ranks, [&](int rank) { return !missing.contains(rank); });
    last = &entry;
  }
  if (last == nullptr || ranks.empty() || went_on_after(view, last->line)) return {};
  Suspicion suspicion =
      behind(view, crew, ranks, last->line,
             fmt::format("{} did not submit {}, for which the others wait, says Horovod",
                         crew.people(ranks), last->fact.operation),
             Claim::desync_lagging);
  // Where most are missing, it is not they who are late.
  if (crew.expected() > 0 && ranks.size() * 2 > static_cast<std::size_t>(crew.expected()))
    suspicion.finding.cause = "collective.stalled";
  return {std::move(suspicion)};
}

std::vector<Suspicion> find_unused(const View& view, const TorchCrew& crew) {
  std::map<int, std::vector<std::string>> names;
  std::vector<const LineRef*> lines;  // of each rank the first
  for (const auto& unused : view.job.torch().unused()) {
    if (unused.fact.names.empty() || !crew.in_attempt(unused.line)) continue;
    std::vector<std::string>& known = names[unused.fact.rank];
    if (!known.empty()) continue;
    known = unused.fact.names;
    lines.push_back(&unused.line);
  }
  if (lines.empty()) return {};
  std::set<int> ranks;
  for (const auto& [rank, parameters] : names) ranks.insert(rank);
  std::vector<std::string> some = names.begin()->second;
  if (some.size() > kMostLines) some.resize(kMostLines);
  Suspicion suspicion;
  suspicion.verdict = Verdict::failed;
  suspicion.since = lines.front()->time;
  Finding& finding = suspicion.finding;
  finding.cause = "software.unused_parameters";
  finding.title = fmt::format("On {} parameters get no gradient: {}", crew.people(ranks),
                              fmt::join(some, ", "));
  finding.severity = Severity::error;
  suspicion.sure = Claim::gradients_missing;
  finding.subject = crew.subject_of(ranks);
  if (lines.size() > kMostLines) lines.resize(kMostLines);
  for (const LineRef* line : lines) finding.evidence.push_back(view.evidence(*line));
  return {std::move(suspicion)};
}

}  // namespace

std::vector<Suspicion> find_torch_disagreements(const View& view, const TorchCrew& crew) {
  std::vector<Suspicion> found;
  for (auto* find :
       {find_different_calls, find_missed_barriers, find_laggards, find_not_submitted, find_unused})
    std::ranges::move(find(view, crew), std::back_inserter(found));
  return found;
}

}  // namespace faultline
