#include "rules/answer/unread.h"

#include <algorithm>
#include <tuple>

#include "rules/knowledge/limits.h"

namespace faultline {
namespace {

constexpr std::size_t kMostNotes = 5;

bool is_decided(const Diagnosis& diagnosis) {
  return diagnosis.verdict == Verdict::healthy ||
         (!diagnosis.root_causes.empty() &&
          diagnosis.root_causes.front().confidence >= limits::least_to_blame);
}

}  // namespace

std::vector<UnreadNote> unread_of(const View& view, const Diagnosis& diagnosis) {
  if (is_decided(diagnosis)) return {};
  std::vector<const UnreadLine*> lines;
  for (const auto& [form, line] : view.job.unread_lines().all()) lines.push_back(&line);
  // What ended something tells more than what did not work, and what began it comes first.
  const auto order = [&](const UnreadLine* it) {
    return std::tuple(it->tells != TroubleKind::ends,
                      view.job.sources().at(it->line.source).source.name, it->line.line);
  };
  const auto shown =
      lines.begin() + static_cast<std::ptrdiff_t>(std::min(kMostNotes, lines.size()));
  std::ranges::partial_sort(lines, shown, std::ranges::less(), order);
  std::vector<UnreadNote> notes;
  for (auto it = lines.begin(); it != shown; ++it)
    notes.push_back({view.evidence((*it)->line), (*it)->sources});
  return notes;
}

}  // namespace faultline
