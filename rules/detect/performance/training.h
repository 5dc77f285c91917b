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
  std::string step;  // 1520; empty: none is told
  std::string of;
  std::string epoch;              // in which the step is counted
  std::string epochs;             // 0.42: where no step is told
  const LineRef* line = nullptr;  // of the latest step
  double usual = 0;               // seconds for a step; 0: not known
  double at_first = 0;
  double between_lines = 0;
  double longest = 0;
  std::string longest_step;
  std::string not_a_number_since;  // the loss of this step, and of all after it
  bool not_a_number = false;
  bool pauses_told = true;  // its lines tell of evaluations and saves
  Phase phase = Phase::steps;
  std::string phase_step;
  const LineRef* phase_line = nullptr;
  double longest_save = 0;
  const LineRef* heard = nullptr;  // a line of something else, after all of these

  // Seconds for which its log went on without a step, or within what it was in.
  double quiet() const;
  bool is_slower() const;
  // Nothing: how many steps it has no line tells.
  std::optional<bool> made_all_steps() const;
};

// Nothing: no line tells of a step. Of what several ranks and frameworks print, the latest.
std::optional<Training> training_of(const View& view);

// It said itself that it came to its end, and no step is known to lack.
bool training_ended(const View& view);

std::string step_in_words(const Training& training);  // "step 1520 of 50000"

// "16 min", "4.2 s"
std::string seconds_in_words(double seconds);

}  // namespace faultline
