// How far a training came, by one rank's lines: what is kept of them does not grow with the steps,
// and neither does what is told. A report comes with the first step and the last, at most once a
// minute in between, and when something changes.
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

  // How many ranks the job has, by the label of a line; 0: it does not tell.
  void learn_ranks(int ranks) {
    if (ranks > 0) ranks_ = ranks;
  }

  // Of a step, or of the loss at a step that was read before.
  void step(const DocumentLine& line, const TrainingLine& told,
            std::vector<DocumentReading>& readings);

  // A save or an evaluation begins or ends, or the training does.
  void turn(const DocumentLine& line, const TrainingLine& told,
            std::vector<DocumentReading>& readings);

  // A line of something else: the job still writes.
  void hear(const DocumentLine& line, std::vector<DocumentReading>& readings);

  void finish(std::vector<DocumentReading>& readings);

  std::size_t size() const;
  void save(SavedBytesWriter& saved) const;
  void restore(SavedBytesReader& saved);
  // What tracks did not remember at first.
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

  std::vector<std::int64_t> early_;   // microseconds for a step: of the first lines ...
  std::vector<std::int64_t> recent_;  // ... and of the last
  std::int64_t samples_ = 0;
  std::vector<std::int64_t> work_;  // what the rank did itself in the last steps ...
  std::vector<std::int64_t> wait_;  // ... and what it waited
  std::int64_t longest_us_ = 0;
  std::int64_t longest_step_ = -1;

  std::string loss_;
  std::int64_t nan_from_ = -1;
  std::int64_t nan_lines_ = 0;  // in a row, up to now
  std::int64_t nan_runs_ = 0;

  Phase phase_ = Phase::steps;
  EventTime phase_since_;
  std::int64_t longest_save_us_ = 0;

  // What was told of it.
  bool untold_ = false;
  std::int64_t told_lines_ = 0;
  EventTime told_at_;
  std::int64_t untold_us_ = 0;  // by the steps' own durations
  KeptLine heard_;              // the latest line of something else, once no step came for long
  std::int64_t quiet_told_us_ = 0;
  bool quiet_untold_ = false;
};

}  // namespace faultline
