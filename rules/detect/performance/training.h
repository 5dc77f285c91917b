// How far the job's training came, by the lines of its steps (parsers/training/).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rules/picture/view.h"

namespace faultline {

struct Training {
  enum class Phase { steps, saving, evaluating, ended };

  const PartRecord* record = nullptr;
  std::string step;  // 1520; empty: not known
  std::string of;
  std::string epoch;              // in which the step is counted
  std::string epochs;             // 0.42, if no step is known
  const LineRef* line = nullptr;  // of the latest step
  double usual = 0;               // seconds for a step; 0: not known
  double at_first = 0;
  double between_lines = 0;
  double longest = 0;
  std::string longest_step;
  std::string not_a_number_since;  // the loss from this step on
  bool not_a_number = false;
  bool pauses_told = true;  // its lines show evaluations and saves
  Phase phase = Phase::steps;
  std::string phase_step;
  const LineRef* phase_line = nullptr;
  double longest_save = 0;
  const LineRef* heard = nullptr;  // the latest line of something else, if no step came for long

  // Seconds for which its log went on after the latest step or change of phase.
  double quiet() const;
  bool is_slower() const;
  // Nothing: no line says which step it made, or how many there are.
  std::optional<bool> made_all_steps() const;
};

// The latest of what several ranks and frameworks print; nothing: no line is about training.
std::optional<Training> training_of(const View& view);

// Whether the training said that it ended, and no step is known to be missing.
bool training_ended(const View& view);

std::string step_in_words(const Training& training);  // "step 1520 of 50000"

// "16 min", "4.2 s"
std::string seconds_in_words(double seconds);

}  // namespace faultline
