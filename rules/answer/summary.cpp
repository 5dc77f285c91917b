#include "rules/answer/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "rules/answer/coverage_ranks.h"
#include "rules/answer/health.h"
#include "rules/answer/measurements.h"
#include "rules/answer/training_progress.h"
#include "rules/answer/what_was_read.h"

namespace faultline {
namespace {

// An error that no rule understands: it keeps the job from being called healthy.
const Finding* doubt_in(const Diagnosis& diagnosis) {
  const auto doubt = std::ranges::find_if(diagnosis.observations, [](const Finding& finding) {
    return is(finding.cause, Trait::not_understood) && finding.part_of_job &&
           finding.severity >= Severity::error;
  });
  return doubt == diagnosis.observations.end() ? nullptr : &*doubt;
}

// How many ranks were heard, while the job is not judged yet.
std::string arrived_so_far(const RankTally& ranks) {
  if (ranks.expected > ranks.seen)
    return fmt::format("{} of {} ranks have been heard", ranks.seen, ranks.expected);
  return ranks.seen > 1 ? fmt::format("All {} ranks have been heard", ranks.seen)
                        : std::string("Logs are arriving");
}

std::string summary_before_the_end(const Diagnosis& diagnosis) {
  std::string summary = arrived_so_far(diagnosis.ranks);
  if (diagnosis.verdict == Verdict::running) summary += ", and calls go on";
  summary += ".";
  if (!diagnosis.so_far.empty())
    summary += fmt::format(" So far: {}.", diagnosis.so_far.front().title);
  if (diagnosis.verdict == Verdict::running) return summary;
  summary += " More of the logs may still come";
  summary +=
      diagnosis.judged_in && diagnosis.judged_in->count() > 0
          ? fmt::format("; if none comes, the job is judged in {} s.", diagnosis.judged_in->count())
          : std::string(".");
  return summary;
}

// The summary if there is no root cause.
std::string summary_of_nothing(const View& view, const Diagnosis& diagnosis) {
  if (diagnosis.verdict == Verdict::healthy) {
    const std::string word = own_word_of_its_end(view);
    return "Nothing wrong was found." + (word.empty() ? "" : " " + word);
  }
  if (const Finding* doubt = doubt_in(diagnosis)) return doubt->title + ".";
  auto stuck = std::ranges::count_if(view.members, [&](std::size_t index) {
    return began_and_never_finished(view.member(index));
  });
  if (stuck == 0 && !diagnosis.missing_evidence.empty())
    return fmt::format("The logs do not show how the job is doing; missing: {}.",
                       diagnosis.missing_evidence.front().what);
  return stuck == 0
             ? "No line shows how a job is doing."
             : fmt::format("{} began to set up a communicator, and no line says that {} finished.",
                           stuck == 1 ? "1 rank" : fmt::format("{} ranks", stuck),
                           stuck == 1 ? "it" : "they");
}

}  // namespace

std::string summary_of(const View& view, const Diagnosis& diagnosis) {
  const std::string training = training_in_words(view);
  const std::string and_training = training.empty() ? std::string() : " " + training;
  if (diagnosis.root_causes.empty() && diagnosis.judged_in)
    return summary_before_the_end(diagnosis) + and_training;
  if (diagnosis.root_causes.empty()) {
    std::string rests_on = measured_in_words(view);
    if (rests_on.empty() && training.empty() && diagnosis.verdict != Verdict::healthy)
      rests_on = what_was_read(view);
    return summary_of_nothing(view, diagnosis) + and_training + (rests_on.empty() ? "" : " ") +
           rests_on;
  }
  const Finding& cause = diagnosis.root_causes.front();
  std::string summary = cause.title + ".";
  for (const Finding& symptom : diagnosis.symptoms)
    if (std::ranges::find(cause.explains, symptom.id) != cause.explains.end() &&
        is_of(symptom.cause, Family::collective))
      summary += " " + symptom.title + ".";
  return summary + and_training;
}

}  // namespace faultline
