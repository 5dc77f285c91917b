// What frameworks print about a running training: its steps, and events between them (checkpoints,
// evaluations, the end). Tables in training_line.cpp have the wording of each framework.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/time.h"

namespace faultline {

struct TrainingLine {
  enum class What {
    step,
    bar,   // a bar of tqdm that does not say what it counts
    loss,  // the loss of a step; only the bar beside it counts steps
    save_begins,
    save_ends,
    evaluates,
    evaluated,
    ended,  // the training says that it ended
  };
  What what = What::step;
  std::string_view tool;          // empty: several tools print this line
  std::int64_t step = -1;         // -1: not known
  std::int64_t of = 0;            // the number of steps; 0: not known
  std::int64_t epoch = -1;        // the step is counted within this epoch; -1: from the beginning
  std::string_view epochs;        // 0.42: the progress in epochs, if there is no step
  std::optional<double> seconds;  // for one step
  // Seconds in one step, by the names of its parts: the rank's own work, and its waiting for
  // others.
  struct Parts {
    double work = 0;
    double wait = 0;
  };
  std::optional<Parts> parts;
  std::string_view loss;
  bool not_a_number = false;  // the loss is not a number
  std::optional<Timestamp> stamp;
  int rank = -1;          // the rank in a label of the script: "[rank 3/8]"
  int ranks = 0;          // the number of ranks in the label; 0: not known
  std::string_view rest;  // the text after a bar on its line
};

// A quick test. If it is false, read_training_line finds nothing.
bool may_be_training_line(std::string_view text);

// cut: the text may be incomplete, so a number at its end is not read.
std::optional<TrainingLine> read_training_line(std::string_view text, bool cut = false);

}  // namespace faultline
