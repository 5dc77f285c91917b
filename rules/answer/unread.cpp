#include "rules/answer/unread.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "rules/knowledge/limits.h"

namespace faultline {
namespace {

constexpr std::size_t kMostNotes = 5;

bool is_decided(const Diagnosis& diagnosis) {
  return diagnosis.verdict == Verdict::healthy ||
         (!diagnosis.root_causes.empty() &&
          diagnosis.root_causes.front().confidence >= limits::least_to_blame);
}

// Whether a finding shows the line: then it is read, whatever its words.
bool is_told(const Diagnosis& diagnosis, const Evidence& line) {
  const auto holds = [&](const std::vector<Finding>& findings) {
    return std::ranges::any_of(findings, [&](const Finding& finding) {
      return std::ranges::any_of(finding.evidence, [&](const Evidence& evidence) {
        return evidence.line == line.line && evidence.source == line.source;
      });
    });
  };
  return holds(diagnosis.root_causes) || holds(diagnosis.symptoms) || holds(diagnosis.observations);
}

}  // namespace

std::vector<UnreadNote> unread_of(const View& view, const Diagnosis& diagnosis) {
  if (is_decided(diagnosis)) return {};
  std::vector<const UnreadLine*> lines;
  for (const auto& [form, line] : view.job.unread_lines().all())
    if (line.tells != TroubleKind::hints) lines.push_back(&line);
  // Lines about an end come before lines about a failure; then the order of the log counts.
  const auto order = [&](const UnreadLine* it) {
    return std::tuple(it->tells != TroubleKind::ends,
                      view.job.sources().at(it->line.source).source.name, it->line.line);
  };
  std::ranges::sort(lines, std::ranges::less(), order);
  std::vector<UnreadNote> notes;
  for (const UnreadLine* line : lines) {
    if (notes.size() == kMostNotes) break;
    Evidence evidence = view.evidence(line->line);
    if (!is_told(diagnosis, evidence)) notes.push_back({std::move(evidence), line->sources});
  }
  return notes;
}

}  // namespace faultline
