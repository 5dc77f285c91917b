#include "rules/story/verdict.h"

#include <algorithm>

#include "rules/picture/who/torch_crew.h"

namespace faultline {
namespace {

// An error of the job's own parts that nobody here can read accuses nobody, and is no health.
bool leaves_in_doubt(const Candidate& candidate) {
  return candidate.in_question() && candidate.suspicion.verdict == Verdict::unknown;
}

// Where a cause's lines tell how the job ended, what follows from it does not tell it otherwise.
bool verdict_is_told(const std::vector<Candidate>& candidates, const Candidate& effect) {
  return std::ranges::any_of(effect.explained_by, [&](std::size_t cause) {
    const Candidate& by = candidates[cause];
    return !by.symptom && by.suspicion.tells_verdict && by.finding().severity >= Severity::error;
  });
}

// Whoever is told to end, or aborts because of others, ended nothing.
bool ended_by_itself(const ProcessExit& exit) {
  constexpr int kAborted = 6;
  constexpr int kTerminated = 15;
  if (exit.told_to || (exit.signal && (*exit.signal == kAborted || *exit.signal == kTerminated)))
    return false;
  return exit.signal || exit.exit_code.value_or(0) != 0;
}

bool tells_what_stands(const std::vector<Candidate>& candidates, std::size_t c, Place place,
                       Ending ending) {
  if (place == Place::observation && !leaves_in_doubt(candidates[c])) return false;
  // Who waited in vain stood, whatever made it so.
  return ending == Ending::time_out || candidates[c].suspicion.tells_verdict ||
         !verdict_is_told(candidates, candidates[c]);
}

}  // namespace

Verdict worse(Verdict a, Verdict b) {
  constexpr Verdict kFromWorst[] = {Verdict::corrupt, Verdict::hang,    Verdict::failed,
                                    Verdict::slow,    Verdict::unknown, Verdict::healthy};
  for (Verdict verdict : kFromWorst)
    if (a == verdict || b == verdict) return verdict;
  return Verdict::unknown;
}

Ending ending_of(const View& view, const std::vector<Candidate>& candidates) {
  const bool timed_out = std::ranges::any_of(candidates, [](const Candidate& candidate) {
    return candidate.in_question() && candidate.finding().cause == "collective.timeout";
  });
  if (timed_out) return Ending::time_out;
  const Torch& torch = view.job.torch();
  if (torch.empty()) return Ending::none;
  const TorchCrew crew(view);
  for (const TorchRank* rank : crew.ranks())
    for (const TorchTimeout& timeout : rank->timeouts)
      if (crew.in_attempt(timeout.line)) return Ending::time_out;
  const bool ended = std::ranges::any_of(torch.exits(), [&](const TorchLine<ProcessExit>& exit) {
    return ended_by_itself(exit.fact) && crew.in_attempt(exit.line);
  });
  return ended ? Ending::exit : Ending::none;
}

Verdict verdict_of(const std::vector<Candidate>& candidates, const std::vector<Place>& places,
                   Ending ending, Verdict otherwise) {
  Verdict all = otherwise;
  Verdict causes = Verdict::healthy;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    const Verdict verdict = candidates[c].suspicion.verdict;
    if (tells_what_stands(candidates, c, places[c], ending)) all = worse(all, verdict);
    if (places[c] == Place::root_cause) causes = worse(causes, verdict);
  }
  // Nobody waited to the end: a process ended, and the job with it.
  const bool failed = ending == Ending::exit && causes == Verdict::failed;
  return failed && all == Verdict::hang ? Verdict::failed : all;
}

}  // namespace faultline
