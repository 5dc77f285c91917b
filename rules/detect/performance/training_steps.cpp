// Finds training that makes no more steps, and a loss that is NaN or infinite. One rank prints both
// for all ranks, so the findings name no rank.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "rules/detect/parts/facts.h"
#include "rules/detect/performance/measured.h"
#include "rules/detect/performance/training.h"
#include "rules/knowledge/ground_names.h"

namespace faultline {
namespace {

// Seconds. Evaluations and saves take minutes, and some programs do not announce them.
constexpr double kStoodFor = 300;
// A multiple of the usual time between two lines of steps; some lines may be missing.
constexpr double kGaps = 5;
// A multiple of the longest earlier save.
constexpr double kSaves = 3;

// If NCCL's calls are logged, they show better which rank stopped.
bool calls_are_logged(const View& view) {
  return std::ranges::any_of(view.alignments,
                             [](const Alignment& alignment) { return alignment.furthest > 0; });
}

// Whether ranks reported an error, a time-out or an end after the last step. Such a line shows
// better why the job stopped.
bool is_told_otherwise(const View& view, const Training& training) {
  const auto follows = [&](const LineRef& line) {
    return training.line == nullptr ||
           order_of(line.time, training.line->time, false) != Order::before;
  };
  const Torch& torch = view.job.torch();
  return std::ranges::any_of(torch.exits(), [&](const auto& exit) { return follows(exit.line); }) ||
         std::ranges::any_of(torch.ranks(), [&](const TorchRank* rank) {
           return std::ranges::any_of(rank->timeouts,
                                      [&](const TorchTimeout& one) { return follows(one.line); }) ||
                  std::ranges::any_of(rank->said,
                                      [&](const TorchSaying& one) { return follows(one.line); });
         });
}

double patience(const Training& training) {
  double seconds = std::max(kStoodFor, kGaps * training.between_lines);
  if (training.phase == Training::Phase::saving)
    seconds = std::max(seconds, kSaves * training.longest_save);
  return seconds;
}

// Seconds since the last line of a log that is still open; 0: the log is not watched, or its lines
// still come.
double silent_for(const View& view, const Training& training) {
  if (view.moment.stall_after.count() == 0 || training.line == nullptr) return 0;
  const SourceState& source = view.job.sources().at(training.line->source);
  if (!view.moment.waiting_sources.contains(source.source.name) ||
      view.moment.live_sources.contains(source.source.name))
    return 0;
  // Whole multiples of stall_after, so that the title does not change all the time.
  const auto times = (view.moment.now - source.last_received) / view.moment.stall_after;
  return std::chrono::duration<double>(times * view.moment.stall_after).count();
}

Suspicion stand(const View& view, const Training& training, double quiet, Claim claim) {
  Suspicion suspicion;
  suspicion.stops_job = true;
  suspicion.verdict = Verdict::hang;
  suspicion.sure = claim;
  Finding& finding = suspicion.finding;
  finding.cause = Cause::collective_stalled;
  finding.severity = Severity::error;
  const LineRef* since = training.line;
  if (training.phase == Training::Phase::saving) {
    since = training.phase_line;
    suspicion.sure = Claim::steps_stand_in_save;
    finding.title =
        fmt::format("The save of a checkpoint{} has not ended after {}",
                    training.phase_step.empty() ? "" : " at step " + training.phase_step,
                    seconds_in_words(quiet));
  } else {
    finding.title = fmt::format("No training step came for {} after {}; a step took {}",
                                seconds_in_words(quiet), step_in_words(training),
                                seconds_in_words(training.usual));
  }
  if (since != nullptr) suspicion.since = since->time;
  for (const LineRef* line : {training.line, training.phase_line, training.heard})
    if (line != nullptr && (line != training.heard || training.quiet() > 0))
      add_line(view, line, finding);
  return suspicion;
}

void suspect_standstill(const View& view, const Training& training, std::vector<Suspicion>& found) {
  const bool tells = training.phase == Training::Phase::saving ||
                     (training.phase == Training::Phase::steps && training.usual > 0 &&
                      training.pauses_told && !training.made_all_steps().value_or(false));
  if (!tells || calls_are_logged(view) || is_told_otherwise(view, training)) return;
  const double least = patience(training);
  if (training.quiet() >= least)
    found.push_back(stand(view, training, training.quiet(), Claim::steps_stopped));
  else if (const double silent = silent_for(view, training); silent >= least)
    found.push_back(stand(view, training, silent, Claim::steps_stopped_live));
}

void suspect_loss(const View& view, const Training& training, std::vector<Suspicion>& found) {
  if (!training.not_a_number) return;
  Suspicion suspicion = slow_suspicion(view, *training.record, Cause::corruption_wrong_results,
                                       Claim::loss_not_a_number);
  suspicion.verdict = Verdict::corrupt;
  suspicion.job_ran_with_it = false;
  Finding& finding = suspicion.finding;
  finding.evidence.clear();
  if (training.line != nullptr) {
    add_line(view, training.line, finding);
    suspicion.since = training.line->time;
  }
  finding.severity = Severity::error;
  finding.title = training.not_a_number_since.empty()
                      ? std::string("The training loss is NaN or infinite")
                      : fmt::format("The training loss has been NaN or infinite since step {}",
                                    training.not_a_number_since);
  finding.actions = {
      {.what = "Go back to the last checkpoint before it, and let every rank check its loss and "
               "gradients for NaN (Megatron-LM: --check-for-nan-in-loss-and-grad). NaN on one rank "
               "points to its GPU; NaN on all ranks, to the data, the learning rate or the code.",
       .where = "",
       .command = ""}};
  found.push_back(std::move(suspicion));
}

}  // namespace

std::vector<Suspicion> suspect_training(const View& view) {
  std::vector<Suspicion> found;
  const std::optional<Training> training = training_of(view);
  if (!training) return found;
  suspect_standstill(view, *training, found);
  suspect_loss(view, *training, found);
  return found;
}

}  // namespace faultline
