#include "rules/answer/training_progress.h"

#include <fmt/format.h>

#include "rules/detect/performance/measured.h"
#include "rules/detect/performance/training.h"
#include "rules/picture/when/clock_in_words.h"

namespace faultline {
namespace {

std::string pace_in_words(const Training& training) {
  std::string text;
  if (training.usual > 0)
    text += fmt::format(", one every {} until then", seconds_in_words(training.usual));
  if (training.is_slower())
    text += fmt::format(" and every {} at first", seconds_in_words(training.at_first));
  if (training.longest > 0)
    text +=
        fmt::format("; the longest took {}{}", seconds_in_words(training.longest),
                    training.longest_step.empty() ? "" : " (step " + training.longest_step + ")");
  return text;
}

std::string phase_in_words(const Training& training) {
  const std::string at =
      training.phase_step.empty() ? std::string() : fmt::format(" (step {})", training.phase_step);
  switch (training.phase) {
    case Training::Phase::saving:
      return fmt::format("; then the save of a checkpoint began{}, and no line says that it ended",
                         at);
    case Training::Phase::evaluating:
      return fmt::format("; then an evaluation began{}", at);
    case Training::Phase::ended:
      return "; it ended";
    case Training::Phase::steps:
      break;
  }
  return {};
}

}  // namespace

std::string training_in_words(const View& view) {
  const std::optional<Training> training = training_of(view);
  if (!training) return {};
  std::string text = fmt::format("Training ({})", training->record->tool);
  if (const std::string step = step_in_words(*training); !step.empty()) text += ": " + step;
  if (training->line != nullptr && training->line->time.known())
    text += " at " + clock_in_words(training->line->time);
  text += pace_in_words(*training) + phase_in_words(*training);
  constexpr double kWorthSaying = 60;
  if (const double quiet = training->quiet();
      quiet >= kWorthSaying && training->phase != Training::Phase::ended)
    text += fmt::format("; nothing for {}", seconds_in_words(quiet));
  return text + ".";
}

bool has_training(const View& view) { return training_of(view).has_value(); }

}  // namespace faultline
