#include "rules/detectors/behind_despite_gaps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace faultline {
namespace {

// Where lines are missing, every rank seems to be behind somewhere: the lines that would show it
// further on are lost. But a rank that stopped is behind in all its communicators, and by more than
// chance takes away.
struct Score {
  std::uint64_t ahead_by = 0;     // lines that others must have lost if nobody is behind this rank
  std::uint64_t short_by = 0;     // calls that its peers made and it did not, as it seems
  std::size_t communicators = 0;  // in which it was compared
  bool by_order = false;          // some of it is read off the order of calls, which errs by a few
  const Alignment* worst = nullptr;  // where it lacks most
  std::size_t member = 0;            // in that one
};

constexpr double kMostConfidence = 0.8;
// How many ranks of a healthy job would look as bad by chance; above it nobody is named.
constexpr double kMostByChance = 0.5;
constexpr double kMostLossForOrder = 0.1;
constexpr double kErrorOfOrder = 0.3;  // as if so many more lines were lost
constexpr std::size_t kMostLines = 2;

// By how many calls it is ahead of those who seem to be behind it, all together. Ranks run one
// program, so the one that stopped first is ahead of nobody: what says so are lines that were lost.
std::uint64_t ahead_of_others(const Alignment& alignment, std::size_t which) {
  std::uint64_t sum = 0;
  for (const std::uint64_t position : alignment.positions)
    if (position < alignment.positions[which]) sum += alignment.positions[which] - position;
  return sum;
}

std::vector<Score> scores_of(const View& view) {
  std::vector<Score> scores(view.workers.all.size());
  for (const Alignment& alignment : view.alignments) {
    if (alignment.members.size() < 2 || alignment.furthest == 0) continue;
    // With many lines gone, the order of calls fits in too many ways.
    if (alignment.basis == Basis::sequence && alignment.loss > kMostLossForOrder) continue;
    for (std::size_t i = 0; i < alignment.members.size(); ++i) {
      if (view.is_live(alignment.members[i])) continue;
      Score& score = scores[view.workers.of_member[alignment.members[i]]];
      const std::uint64_t lacks = alignment.furthest - alignment.positions[i];
      score.ahead_by += ahead_of_others(alignment, i);
      ++score.communicators;
      score.by_order |= alignment.basis == Basis::sequence;
      if (alignment.behind.empty()) continue;  // in step, or over
      score.short_by += lacks;
      if (score.worst == nullptr ||
          lacks > score.worst->furthest - score.worst->position_of(score.member)) {
        score.worst = &alignment;
        score.member = alignment.members[i];
      }
    }
  }
  return scores;
}

// The chance that losing lines alone makes a rank of `communicators` communicators fall short by
// `short_by` or more: the lines after the last one seen are lost in each, one by one.
double by_chance(double loss, std::size_t communicators, std::uint64_t short_by) {
  double term = std::pow(1 - loss, static_cast<double>(communicators));  // short by nothing
  double below = 0;
  for (std::uint64_t missing = 0; missing < short_by; ++missing) {
    below += term;
    term *= loss * static_cast<double>(communicators + missing) / static_cast<double>(missing + 1);
  }
  return std::max(0.0, 1 - below);
}

Suspicion describe(const View& view, const Score& score, double confidence) {
  const Alignment& alignment = *score.worst;
  const std::vector<std::size_t> culprit = {score.member};
  Suspicion suspicion;
  suspicion.stops_job = true;
  suspicion.verdict = Verdict::hang;
  suspicion.since = view.member(score.member).last_line.time;
  Finding& finding = suspicion.finding;
  finding.cause = "collective.rank_behind";
  finding.title = fmt::format(
      "{} fell {} calls short of its peers in {} communicator{}; about {:.0f} % of the lines are "
      "missing",
      people_of(view, culprit), score.short_by, score.communicators,
      score.communicators == 1 ? "" : "s", std::max(1.0, view.loss * 100));
  finding.severity = Severity::critical;
  finding.confidence = std::round(confidence * 100) / 100;
  finding.subject = subject_of(view, culprit);
  finding.subject.communicators = {view.communicators[alignment.communicator].id};
  if (view.member(score.member).last_line.known())
    finding.evidence.push_back(view.evidence(view.member(score.member).last_line));
  for (std::size_t i = 0; i < alignment.members.size(); ++i)
    if (alignment.positions[i] == alignment.furthest && finding.evidence.size() < kMostLines)
      finding.evidence.push_back(view.evidence(view.member(alignment.members[i]).last_line));
  return suspicion;
}

}  // namespace

std::vector<Suspicion> find_ranks_behind_despite_gaps(const View& view) {
  std::vector<Score> scores = scores_of(view);
  std::erase_if(scores, [](const Score& score) { return score.short_by == 0; });
  std::ranges::sort(scores, {}, [](const Score& score) {
    return std::pair(score.ahead_by, UINT64_MAX - score.short_by);
  });
  if (scores.empty()) return {};
  const Score& worst = scores.front();
  const double loss = view.loss + (worst.by_order ? kErrorOfOrder : 0);
  const double expected = by_chance(loss, worst.communicators, worst.short_by) *
                          static_cast<double>(view.workers.all.size());
  if (expected > kMostByChance) return {};
  // Whoever comes second may be the one, if as many lines were lost as the two are apart.
  std::uint64_t margin = worst.short_by;
  if (scores.size() > 1) {
    const Score& second = scores[1];
    margin = second.ahead_by - worst.ahead_by;
    if (margin == 0 && worst.short_by > second.short_by) margin = worst.short_by - second.short_by;
  }
  if (margin == 0) return {};
  const double second_is_it = std::pow(loss, static_cast<double>(margin));
  return {
      describe(view, worst, kMostConfidence * (1 - loss) * (1 - expected) * (1 - second_is_it))};
}

}  // namespace faultline
