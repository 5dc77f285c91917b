#include "rules/detect/torch/disagreements.h"

#include <fmt/format.h>

#include <algorithm>

#include "rules/detect/detector.h"
#include "rules/knowledge/ground_names.h"

namespace faultline {
namespace {

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
  finding.cause = Cause::software_collective_mismatch;
  finding.title = fmt::format("Ranks called different things: {}", fmt::join(texts, "; "));
  finding.severity = Severity::critical;
  suspicion.sure = decided ? Claim::desync_by_majority : Claim::desync_of_two;
  finding.subject = crew.subject_of(odd);
  // The advice of the class is to switch on the check that printed these lines.
  finding.actions.push_back(
      {.what = "Compare function, shape and type of that call in the code of the ranks: they may "
               "have built different models, or taken another branch.",
       .where = {},
       .command = {}});
  for (const auto* line : lines)
    if (finding.evidence.size() < kMostLines) {
      const Evidence evidence = view.evidence(line->line);
      if (std::ranges::find(finding.evidence, evidence) == finding.evidence.end())
        finding.evidence.push_back(evidence);
    }
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
  finding.cause = Cause::software_unused_parameters;
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
  for (auto* find : {find_different_calls, find_unused})
    std::ranges::move(find(view, crew), std::back_inserter(found));
  return found;
}

}  // namespace faultline
