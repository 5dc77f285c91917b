// How far a training came, according to the lines of one rank. Memory does not grow with the steps.
// There is a report at the first step and at the last, about once a minute in between, and when
// something changes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parsers/document.h"
#include "parsers/training/training_line.h"

namespace faultline {

class TrainingTrack {
 public:
  TrainingTrack() = default;
  TrainingTrack(std::string_view tool, int rank) : tool_(tool), rank_(rank) {}

  bool is_of(std::string_view tool, int rank) const { return tool_ == tool && rank_ == rank; }
  std::string_view tool() const { return tool_; }

  // How many ranks the job has, according to the label of a line; 0: the label does not say it.
  void learn_ranks(int ranks) {
    if (ranks > 0) ranks_ = ranks;
  }

  // A line about a step, or about the loss of a step that was read before.
  void step(const DocumentLine& line, const TrainingLine& told,
            std::vector<DocumentReading>& readings);

  // A save or an evaluation begins or ends, or the training ends.
  void turn(const DocumentLine& line, const TrainingLine& told,
            std::vector<DocumentReading>& readings);

  // A line of something else, which shows that the job still writes.
  void hear(const DocumentLine& line, std::vector<DocumentReading>& readings);

  void finish(std::vector<DocumentReading>& readings);

  std::size_t size() const;
  void save(SavedBytesWriter& saved) const;
  void restore(SavedBytesReader& saved);
  // Fields that earlier versions did not save.
  void save_added(SavedBytesWriter& saved) const;
  void restore_added(SavedBytesReader& saved);

 private:
  enum class Phase { steps, saving, evaluating, ended };

  void measure(std::int64_t position, const EventTime& time, const TrainingLine& told);
  void add_sample(std::int64_t us);
  bool note_loss(const TrainingLine& told);
  bool is_due(const EventTime& time) const;
  std::int64_t usual_us() const;
  std::int64_t between_lines_us() const;
  void give_steps(std::vector<DocumentReading>& readings);
  void give_quiet(std::vector<DocumentReading>& readings);
  void give(std::vector<NamedValue> values, const KeptLine& line,
            std::vector<DocumentReading>& readings) const;

  std::string tool_;
  int rank_ = -1;
  int ranks_ = 0;

  std::int64_t lines_ = 0;
  std::int64_t position_ = -1;  // counted from the beginning of all epochs
  std::int64_t step_ = -1;
  std::int64_t of_ = 0;
  std::int64_t epoch_ = -1;
  std::string epochs_;
  std::int64_t first_step_ = -1;
  std::int64_t gap_ = 0;  // steps between the last two lines
  KeptLine last_;

  std::vector<std::int64_t> early_;   // microseconds for a step in the first lines ...
  std::vector<std::int64_t> recent_;  // ... and in the last lines
  std::int64_t samples_ = 0;
  std::vector<std::int64_t> work_;  // microseconds of the rank's own work in the last steps ...
  std::vector<std::int64_t> wait_;  // ... and of its waiting
  std::int64_t longest_us_ = 0;
  std::int64_t longest_step_ = -1;

  std::string loss_;
  std::int64_t nan_from_ = -1;
  std::int64_t nan_lines_ = 0;  // the last lines, in a row
  std::int64_t nan_runs_ = 0;

  Phase phase_ = Phase::steps;
  EventTime phase_since_;
  std::int64_t longest_save_us_ = 0;

  // What was reported.
  bool untold_ = false;
  std::int64_t told_lines_ = 0;
  EventTime told_at_;
  std::int64_t untold_us_ = 0;  // the sum of the durations of steps
  KeptLine heard_;              // the latest line of something else, once no step came for long
  std::int64_t quiet_told_us_ = 0;
  bool quiet_untold_ = false;
};

}  // namespace faultline
