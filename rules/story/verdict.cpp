#include "rules/story/verdict.h"

#include <algorithm>

#include "rules/knowledge/limits.h"
#include "rules/picture/who/torch_crew.h"

namespace faultline {
namespace {

// An error of the job's own parts that no rule understands accuses nobody, and is no health.
bool leaves_in_doubt(const Candidate& candidate) {
  return candidate.in_question() && candidate.suspicion.verdict == Verdict::unknown;
}

// If a cause's lines say how the job ended, what follows from it does not say otherwise.
bool verdict_is_told(const std::vector<Candidate>& candidates, const Candidate& effect) {
  return std::ranges::any_of(effect.explained_by, [&](std::size_t cause) {
    const Candidate& by = candidates[cause];
    return !by.symptom && by.suspicion.tells_verdict && by.finding().severity >= Severity::error;
  });
}

constexpr int kAborted = 6;

// When processes ended by themselves, and when somebody gave up waiting.
struct Ends {
  std::vector<EventTime> exits;
  std::vector<EventTime> aborts;  // by themselves, or because of others
  std::vector<EventTime> time_outs;
};

Ends ends_of(const View& view, const std::vector<Candidate>& candidates) {
  Ends ends;
  for (const Candidate& candidate : candidates)
    if (candidate.in_question() && candidate.finding().cause == Cause::collective_timeout)
      ends.time_outs.push_back(candidate.suspicion.since);
  const Torch& torch = view.job.torch();
  if (torch.empty()) return ends;
  const TorchCrew& crew = view.crew();
  for (const TorchLine<ProcessExit>& exit : torch.exits())
    if (ended_by_itself(exit.fact) && crew.in_attempt(exit.line))
      (exit.fact.signal == kAborted ? ends.aborts : ends.exits)
          .push_back(view.job.dated(exit.line));
  for (const TorchRank* rank : crew.ranks())
    for (const TorchTimeout& timeout : rank->timeouts)
      if (crew.in_attempt(timeout.line)) ends.time_outs.push_back(view.job.dated(timeout.line));
  return ends;
}

// Whether one of `some` has such an order to all of `others`.
template <class Stands>
bool any_to_all(const std::vector<EventTime>& some, const std::vector<EventTime>& others,
                Stands stands) {
  return std::ranges::any_of(some, [&](const EventTime& one) {
    return std::ranges::all_of(
        others, [&](const EventTime& other) { return stands(order_of(one, other, false)); });
  });
}

bool is_before(Order order) { return order == Order::before; }
bool may_be_before(Order order) { return order != Order::after; }

// Whether the cause began before somebody gave up waiting for it, by a clock that both have.
bool came_before_a_time_out(const std::vector<Candidate>& candidates, const Candidate& cause) {
  return std::ranges::any_of(cause.effects, [&](std::size_t e) {
    const Candidate& effect = candidates[e];
    return effect.finding().cause == Cause::collective_timeout &&
           order_of(cause.suspicion.since, effect.suspicion.since, false) == Order::before;
  });
}

// A cause that is too unsure to be shown does not decide the verdict; a symptom does, because it
// was seen. An unsure cause of slowness does not make the job slow.
Verdict told_by(const Candidate& candidate) {
  const Verdict verdict = candidate.suspicion.verdict;
  if (verdict == Verdict::slow && !candidate.symptom &&
      candidate.finding().confidence < limits::least_told_slow)
    return Verdict::unknown;
  const bool hidden = candidate.finding().confidence < limits::least_shown;
  return hidden && (verdict == Verdict::slow || !candidate.symptom) ? Verdict::unknown : verdict;
}

bool tells_what_stands(const std::vector<Candidate>& candidates, std::size_t c, Place place,
                       Ending ending) {
  if (place == Place::so_far) return false;
  if (place == Place::observation && !leaves_in_doubt(candidates[c])) return false;
  // If a wait timed out, the job hung, whatever caused that.
  return ending == Ending::time_out || ending == Ending::exit_or_time_out ||
         candidates[c].suspicion.tells_verdict || !verdict_is_told(candidates, candidates[c]);
}

}  // namespace

Verdict worse(Verdict a, Verdict b) {
  constexpr Verdict kFromWorst[] = {Verdict::corrupt, Verdict::hang,      Verdict::failed,
                                    Verdict::slow,    Verdict::undecided, Verdict::unknown,
                                    Verdict::running, Verdict::healthy};
  for (Verdict verdict : kFromWorst)
    if (a == verdict || b == verdict) return verdict;
  return Verdict::unknown;
}

Ending ending_of(const View& view, const std::vector<Candidate>& candidates) {
  const Ends ends = ends_of(view, candidates);
  if (ends.time_outs.empty()) return ends.exits.empty() ? Ending::none : Ending::exit;
  // If a process had ended before, its peers waited for nobody.
  if (any_to_all(ends.exits, ends.time_outs, is_before) ||
      any_to_all(ends.aborts, ends.time_outs, is_before))
    return Ending::exit;
  return any_to_all(ends.exits, ends.time_outs, may_be_before) ? Ending::exit_or_time_out
                                                               : Ending::time_out;
}

Verdict verdict_of(const std::vector<Candidate>& candidates, const std::vector<Place>& places,
                   Ending ending, Verdict otherwise) {
  Verdict all = otherwise;
  const Candidate* surest = nullptr;  // of the causes
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    const Candidate& candidate = candidates[c];
    if (tells_what_stands(candidates, c, places[c], ending)) all = worse(all, told_by(candidate));
    if (places[c] == Place::root_cause &&
        (surest == nullptr || surest->finding().confidence < candidate.finding().confidence))
      surest = &candidate;
  }
  // Nobody waited to the end: a process ended, and the job with it.
  const bool failed = surest != nullptr && surest->suspicion.verdict == Verdict::failed &&
                      (ending == Ending::exit || (ending == Ending::exit_or_time_out &&
                                                  came_before_a_time_out(candidates, *surest)));
  return failed && all == Verdict::hang ? Verdict::failed : all;
}

}  // namespace faultline
