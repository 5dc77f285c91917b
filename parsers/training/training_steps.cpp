#include "parsers/training/training_steps.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "parsers/training/training_line.h"
#include "parsers/training/training_track.h"

namespace faultline {
namespace {

constexpr std::size_t kMostTracks = 64;  // frameworks and ranks that print into one file
constexpr int kMostBars = 64;            // on one line; what follows them is not read

class TrainingSteps : public Document {
 public:
  Line feed(const DocumentLine& line, std::vector<DocumentReading>& readings) override {
    std::string_view rest;
    Line what = feed_one(line, rest, readings);
    if (rest.empty()) return what;
    // Another line follows the bar on the same line, maybe a bar too.
    DocumentLine behind = line;
    for (int bars = 1; bars < kMostBars && !rest.empty(); ++bars) {
      behind.text = std::exchange(rest, {});
      what = feed_one(behind, rest, readings);
    }
    return rest.empty() ? what : Line::foreign;
  }

  void finish(std::vector<DocumentReading>& readings) override {
    for (TrainingTrack& track : tracks_) track.finish(readings);
  }

  std::string_view dialect() const override { return "training"; }

  std::size_t size() const override {
    std::size_t bytes = sizeof *this;
    for (const TrainingTrack& track : tracks_) bytes += track.size();
    return bytes;
  }

  void save(SavedBytesWriter& saved) const override {
    saved.number(bar_step_);
    saved.number(bar_of_);
    saved.number(counted_by_bar_);
    saved.number(std::ssize(tracks_));
    for (const TrainingTrack& track : tracks_) track.save(saved);
    for (const TrainingTrack& track : tracks_) track.save_added(saved);
  }

  void restore(SavedBytesReader& saved) override {
    bar_step_ = saved.number();
    bar_of_ = saved.number();
    counted_by_bar_ = saved.number();
    const std::int64_t count = saved.number();
    for (std::int64_t i = 0; i < count && saved.ok() && tracks_.size() < kMostTracks; ++i)
      tracks_.emplace_back().restore(saved);
    if (saved.at_end()) return;  // saved by a version that did not have the rest
    for (TrainingTrack& track : tracks_) track.restore_added(saved);
  }

 private:
  // Leaves in `rest` what follows a bar.
  Line feed_one(const DocumentLine& line, std::string_view& rest,
                std::vector<DocumentReading>& readings) {
    auto told = read_training_line(line.text, line.cut);
    if (!told) {
      for (TrainingTrack& track : tracks_) track.hear(line, readings);
      return Line::foreign;
    }
    rest = told->rest;
    return take(line, *told, readings) ? Line::part : Line::foreign;
  }

  // False: the line may belong to something else.
  bool take(const DocumentLine& line, TrainingLine& told, std::vector<DocumentReading>& readings) {
    switch (told.what) {
      case TrainingLine::What::bar:
        return take_bar(line, told, readings);
      case TrainingLine::What::loss:
        take_loss(told);
        [[fallthrough]];
      case TrainingLine::What::step:
        if (TrainingTrack* track = track_of(line, told)) track->step(line, told, readings);
        return true;
      default:
        return take_turn(line, told, readings);
    }
  }

  // The trainer prints no step, and its bar has no name. The bar beside the first loss counts the
  // steps; other bars count samples of an evaluation, files, tokens.
  bool take_bar(const DocumentLine& line, TrainingLine& told,
                std::vector<DocumentReading>& readings) {
    bar_step_ = told.step;
    bar_of_ = told.of;
    if (counted_by_bar_ == 0 || told.of != counted_by_bar_) return false;
    const auto track = std::ranges::find_if(
        tracks_, [](const TrainingTrack& one) { return one.tool() == kTrainer; });
    if (track == tracks_.end()) return false;
    track->step(line, told, readings);
    return true;
  }

  void take_loss(TrainingLine& told) {
    if (counted_by_bar_ == 0) counted_by_bar_ = bar_of_;
    if (counted_by_bar_ == 0 || bar_of_ != counted_by_bar_) return;
    told.step = bar_step_;
    told.of = bar_of_;
  }

  // Ranks share the work of saving and printing: a save that one rank begins holds up all ranks.
  bool take_turn(const DocumentLine& line, const TrainingLine& told,
                 std::vector<DocumentReading>& readings) {
    if (told.tool == kTrainer && told.what == TrainingLine::What::ended)
      count_unlogged(line, readings);
    bool known = false;
    for (TrainingTrack& track : tracks_) {
      if (!told.tool.empty() && track.tool() != told.tool) continue;
      track.turn(line, told, readings);
      known = true;
    }
    if (known || told.tool.empty()) return known;
    if (TrainingTrack* track = track_of(line, told)) track->turn(line, told, readings);
    return true;
  }

  // If the training ended before it logged a loss, the last bar before its end counted the steps.
  void count_unlogged(const DocumentLine& line, std::vector<DocumentReading>& readings) {
    if (counted_by_bar_ > 0 || bar_of_ == 0) return;
    counted_by_bar_ = bar_of_;
    if (TrainingTrack* track = track_for(kTrainer, line.rank))
      track->step(line, {.tool = kTrainer, .step = bar_step_, .of = bar_of_}, readings);
  }

  TrainingTrack* track_of(const DocumentLine& line, const TrainingLine& told) {
    TrainingTrack* track = track_for(told.tool, line.rank >= 0 ? line.rank : told.rank);
    // If there are more ranks than tracks, do not report the number of ranks.
    if (track != nullptr && told.ranks <= static_cast<int>(kMostTracks))
      track->learn_ranks(told.ranks);
    return track;
  }

  TrainingTrack* track_for(std::string_view tool, int rank) {
    const auto known = std::ranges::find_if(
        tracks_, [&](const TrainingTrack& track) { return track.is_of(tool, rank); });
    if (known != tracks_.end()) return &*known;
    if (tracks_.size() == kMostTracks) return nullptr;
    return &tracks_.emplace_back(tool, rank);
  }

  static constexpr std::string_view kTrainer = "HF Trainer";

  std::vector<TrainingTrack> tracks_;
  std::int64_t bar_step_ = -1;
  std::int64_t bar_of_ = 0;
  std::int64_t counted_by_bar_ = 0;  // the total of the bar that counts steps; 0: none does
};

}  // namespace

bool begins_training_steps(std::string_view text) { return may_be_training_line(text); }

std::unique_ptr<Document> make_training_steps() { return std::make_unique<TrainingSteps>(); }

}  // namespace faultline
