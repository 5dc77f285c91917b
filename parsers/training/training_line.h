// What frameworks print of a training as it goes: its steps, and what lies between them (saves of
// checkpoints, evaluations, its end). How each spells them is a table in training_line.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/time.h"

namespace faultline {

struct TrainingLine {
  enum class What {
    step,
    bar,   // of tqdm, with no word of what it counts
    loss,  // of a step that only the bar beside it counts
    save_begins,
    save_ends,
    evaluates,
    evaluated,
    ended,  // in its own words
  };
  What what = What::step;
  std::string_view tool;    // empty: any may say so
  std::int64_t step = -1;   // -1: not told
  std::int64_t of = 0;      // 0: not told
  std::int64_t epoch = -1;  // in which the step is counted; -1: it is counted from the beginning
  std::string_view epochs;  // 0.42: where nothing else tells how far it came
  std::optional<double> seconds;  // for one step
  // Of one step, by the names of its parts: what the rank itself did, and what it waited for.
  struct Parts {
    double work = 0;
    double wait = 0;
  };
  std::optional<Parts> parts;
  std::string_view loss;
  bool not_a_number = false;  // the loss
  std::optional<Timestamp> stamp;
  int rank = -1;          // whose line it is, by a label of the script's own: "[rank 3/8]"
  int ranks = 0;          // of how many; 0: not told
  std::string_view rest;  // what stands behind a bar on its line
};

// Quick. Of a line that it denies, read_training_line knows nothing.
bool may_be_training_line(std::string_view text);

// cut: the text may have gone on; a number at its end is not read.
std::optional<TrainingLine> read_training_line(std::string_view text, bool cut = false);

}  // namespace faultline
