#include "rules/story/inference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rules/knowledge/confidence.h"

namespace faultline {
namespace {

bool stops_job(const Candidate& candidate) {
  return candidate.symptom && candidate.suspicion.stops_job;
}

bool is_worse_than_slow(const Candidate& candidate) {
  const Verdict verdict = candidate.suspicion.verdict;
  return candidate.in_question() && !candidate.means_nothing_alone() &&
         (verdict == Verdict::hang || verdict == Verdict::failed || verdict == Verdict::corrupt);
}

// Ranks called what does not fit together: that alone stops a job.
bool is_a_disagreement(const Candidate& candidate) {
  const std::string& cause = candidate.finding().cause;
  return candidate.in_question() &&
         (cause == "software.p2p_mismatch" || cause == "software.collective_mismatch" ||
          cause == "software.collective_skipped");
}

void set_confidence(Candidate& candidate, double confidence, std::string_view why) {
  confidence = std::round(confidence * 100) / 100;
  if (confidence == candidate.finding().confidence) return;
  candidate.finding().confidence = confidence;
  candidate.steps.push_back({confidence, std::string(why)});
}

void limit(Candidate& candidate, double most, std::string_view why) {
  if (candidate.finding().confidence > most) set_confidence(candidate, most, why);
}

// Ranks go on queueing calls for a while after one of them cannot end, some more and some less.
// Where ranks were shown to have called what does not fit together, others that are a few calls
// short need not have stopped.
void doubt_who_queued_less(std::vector<Candidate>& candidates) {
  if (std::ranges::none_of(candidates, is_a_disagreement)) return;
  for (Candidate& candidate : candidates)
    if (candidate.finding().cause == "collective.rank_behind" && candidate.explained_by.empty())
      limit(candidate, kQueuedLess, "ranks are shown to have called what does not fit together");
}

}  // namespace

void weigh(std::vector<Candidate>& candidates) {
  const bool stopped = std::ranges::any_of(candidates, stops_job);
  for (Candidate& candidate : candidates) {
    // That results are wrong is a fault in its own right, whatever else stopped the job.
    if (candidate.symptom || !stopped || is_a_disagreement(candidate) ||
        candidate.suspicion.verdict == Verdict::corrupt)
      continue;
    const bool explains_stop = std::ranges::any_of(
        candidate.effects, [&](std::size_t e) { return stops_job(candidates[e]); });
    const double confidence = candidate.finding().confidence;
    if (explains_stop)
      set_confidence(candidate, std::min(confidence + kExplainsTheStop, kMostConfidence),
                     "it accounts for what stopped the job");
    else
      set_confidence(candidate, confidence * kExplainsNothing,
                     "it does not account for what stopped the job");
  }
  doubt_who_queued_less(candidates);
  if (std::ranges::none_of(candidates, is_worse_than_slow)) return;
  for (Candidate& candidate : candidates) {
    const bool explains_worse = std::ranges::any_of(
        candidate.effects, [&](std::size_t e) { return is_worse_than_slow(candidates[e]); });
    if (candidate.suspicion.verdict == Verdict::slow && !explains_worse)
      limit(candidate, kSlowBesideAStop, "what only slows a job did not stop it");
  }
}

void state_confidence(std::vector<Candidate>& candidates, std::size_t unheard) {
  for (Candidate& candidate : candidates) {
    candidate.firmness = candidate.finding().confidence;
    set_confidence(candidate, stated_confidence(candidate.firmness),
                   "stated: how often such evidence was right");
    const double stated = candidate.finding().confidence;
    if (candidate.borne_out)
      set_confidence(candidate, 1 - (1 - stated) * kDoubtWhereBorneOut,
                     "lines of another kind tell the same");
    // Of ranks that never came, that they were not heard is the evidence itself.
    if (unheard > 0 && candidate.finding().cause != "launch.rank_missing")
      set_confidence(candidate, candidate.finding().confidence * kSomeUnheard,
                     fmt::format("{} of the job's ranks were not heard", unheard));
  }
}

}  // namespace faultline
