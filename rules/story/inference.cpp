#include "rules/story/inference.h"

#include <algorithm>

#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/limits.h"

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

bool tells_an_end(const Candidate& candidate) {
  return !candidate.symptom && is_worse_than_slow(candidate) &&
         candidate.suspicion.phase == Phase::during;
}

bool is_a_disagreement(const Candidate& candidate) {
  return candidate.in_question() && is(candidate.finding().cause, Trait::disagreement);
}

void add(const Grounds& grounds, Candidate& candidate, Ground ground) {
  candidate.suspicion.sure.add(ground);
  work_out_confidence(grounds, candidate.suspicion);
}

void take_for_accounted(const Grounds& grounds, Candidate& candidate) {
  Sureness& sure = candidate.suspicion.sure;
  const bool blamed = candidate.finding().confidence >= limits::least_to_blame;
  if (sure.has(Ground::time_open)) {
    sure.remove(Ground::time_open);
    sure.add(Ground::time_told_by_the_stop);
  }
  add(grounds, candidate, Ground::explains_the_stop);
  if (!blamed && candidate.finding().confidence >= limits::least_to_blame)
    add(grounds, candidate, Ground::accounts_alone);
}

// Ranks go on queueing calls for a while after one of them cannot end, some more and some less. If
// calls were shown not to fit together, other ranks that are a few calls short need not have
// stopped.
void doubt_who_queued_less(const Grounds& grounds, std::vector<Candidate>& candidates) {
  if (std::ranges::none_of(candidates, is_a_disagreement)) return;
  for (Candidate& candidate : candidates)
    if (candidate.finding().cause == Cause::collective_rank_behind &&
        candidate.explained_by.empty())
      add(grounds, candidate, Ground::queued_less);
}

}  // namespace

void work_out_confidence(const Grounds& grounds, Suspicion& suspicion) {
  suspicion.finding.confidence = grounds.confidence(suspicion.sure);
}

void weigh(const Grounds& grounds, std::vector<Candidate>& candidates) {
  const bool stopped = std::ranges::any_of(candidates, stops_job);
  const bool ended = std::ranges::any_of(candidates, tells_an_end);
  for (Candidate& candidate : candidates) {
    // Wrong results are a fault in its own right, whatever else stopped the job.
    if (candidate.symptom || is_a_disagreement(candidate) ||
        candidate.suspicion.verdict == Verdict::corrupt)
      continue;
    // A cause may say itself how the job ended. A cause without a time must explain that, too.
    const bool unplaced = candidate.suspicion.sure.has(Ground::time_open);
    if (!stopped && !(ended && unplaced)) continue;
    const bool explains = std::ranges::any_of(candidate.effects, [&](std::size_t e) {
      return stops_job(candidates[e]) || (unplaced && tells_an_end(candidates[e]));
    });
    if (explains)
      take_for_accounted(grounds, candidate);
    else
      add(grounds, candidate, unplaced ? Ground::tied_by_nothing : Ground::explains_nothing);
  }
  doubt_who_queued_less(grounds, candidates);
  if (std::ranges::none_of(candidates, is_worse_than_slow)) return;
  for (Candidate& candidate : candidates) {
    const bool explains_worse = std::ranges::any_of(
        candidate.effects, [&](std::size_t e) { return is_worse_than_slow(candidates[e]); });
    if (candidate.suspicion.verdict == Verdict::slow && !explains_worse)
      add(grounds, candidate, Ground::slow_beside_a_stop);
  }
}

void state_confidence(const Grounds& grounds, std::vector<Candidate>& candidates,
                      std::size_t unheard) {
  for (Candidate& candidate : candidates) {
    if (candidate.borne_out) add(grounds, candidate, Ground::borne_out);
    // For ranks that never came, the missing logs are the evidence itself.
    if (unheard > 0 && candidate.finding().cause != Cause::launch_rank_missing)
      add(grounds, candidate, Ground::ranks_unheard);
    const Sureness& sure = candidate.suspicion.sure;
    candidate.log_odds = grounds.log_odds(sure);
    candidate.steps = grounds.steps(sure);
    candidate.finding().confidence = rounded_confidence(candidate.finding().confidence);
  }
}

}  // namespace faultline
