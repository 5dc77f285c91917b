#include "parsers/training/training_track.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <optional>
#include <utility>

#include "model/ranks.h"
#include "parsers/training/script_step.h"

namespace faultline {
namespace {

constexpr std::size_t kMostSamples = 20;
constexpr std::int64_t kWarmUp = 2;     // first samples, slow from compiling and cold caches
constexpr std::size_t kFewSamples = 5;  // with fewer samples no step can be called long
constexpr std::int64_t kLongStep = 3;   // times the usual step
constexpr std::int64_t kReportEvery = 60'000'000;
constexpr std::int64_t kReportLines = 1024;  // if no time is known
constexpr std::int64_t kQuietFor = 60'000'000;
constexpr std::int64_t kQuietGaps = 5;  // times the time between lines, because one may be missing
constexpr std::int64_t kMostUs = 1'000'000'000'000;
constexpr std::int64_t kMostCount = 2'000'000'000'000'000'000;  // the sum of two does not overflow
constexpr std::size_t kMostText = 512;
constexpr std::size_t kMostWord = 32;

// Keeps only line.text: before it the line may have older text, separated by carriage returns.
void keep(const DocumentLine& line, const EventTime& time, KeptLine& kept) {
  kept.number = line.number;
  kept.offset = line.offset;
  kept.text = line.text.substr(0, kMostText);
  kept.time = time;
}

EventTime time_of(const DocumentLine& line, const TrainingLine& told) {
  if (line.time.known() || !told.stamp) return line.time;
  return EventTime::at(*told.stamp, std::chrono::seconds(1), true);
}

// The time between two stamps. Nothing if only one of them has a known zone.
std::optional<std::int64_t> passed(const EventTime& from, const EventTime& to) {
  if (!from.known() || !to.known() || from.zone_assumed != to.zone_assumed) return std::nullopt;
  constexpr std::int64_t kFar = 1'000'000'000'000'000'000;  // beyond all years with four digits
  if (std::abs(*from.wall_us / 2) > kFar || std::abs(*to.wall_us / 2) > kFar) return std::nullopt;
  const std::int64_t us = *to.wall_us - *from.wall_us;
  return us >= 0 && us < kMostUs ? std::optional(us) : std::nullopt;
}

std::int64_t median(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// The mean without outliers. Stamps of whole seconds are too coarse to use a single value.
std::int64_t typical(const std::vector<std::int64_t>& values) {
  const std::int64_t middle = median(values);
  std::int64_t sum = 0;
  std::int64_t count = 0;
  for (const std::int64_t value : values) {
    if (middle > 0 && value > kLongStep * middle) continue;
    sum += value;
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

std::string in_seconds(std::int64_t us) {
  return us <= 0 ? std::string() : fmt::format("{:.6g}", static_cast<double>(us) / 1e6);
}

std::string count_or_nothing(std::int64_t count, std::int64_t least) {
  return count < least ? std::string() : std::to_string(count);
}

void save_time(SavedBytesWriter& saved, const EventTime& time) {
  saved.number(time.known() ? 1 : 0);
  saved.number(time.wall_us.value_or(0));
  saved.number(time.uncertainty_us);
  saved.number(time.zone_assumed ? 1 : 0);
}

EventTime restored_time(SavedBytesReader& saved) {
  EventTime time;
  const bool known = saved.number() != 0;
  const std::int64_t us = saved.number();
  if (known) time.wall_us = us;
  time.uncertainty_us = saved.number();
  time.zone_assumed = saved.number() != 0;
  return time;
}

void keep_latest(double seconds, std::vector<std::int64_t>& samples) {
  if (samples.size() == kMostSamples) samples.erase(samples.begin());
  // As a double, because the parts of a step may add up to more than an integer holds.
  const double us = std::min(static_cast<double>(kMostUs), seconds * 1e6);
  samples.push_back(static_cast<std::int64_t>(us));
}

void save_samples(SavedBytesWriter& saved, const std::vector<std::int64_t>& samples) {
  saved.number(std::ssize(samples));
  for (const std::int64_t us : samples) saved.number(us);
}

std::vector<std::int64_t> restored_samples(SavedBytesReader& saved) {
  std::vector<std::int64_t> samples;
  const std::int64_t count = saved.number();
  for (std::int64_t i = 0; i < count && saved.ok() && samples.size() < kMostSamples; ++i)
    samples.push_back(std::clamp<std::int64_t>(saved.number(), 0, 10 * kMostUs));
  return samples;
}

}  // namespace

void TrainingTrack::step(const DocumentLine& line, const TrainingLine& told,
                         std::vector<DocumentReading>& readings) {
  const EventTime time = time_of(line, told);
  std::int64_t position = told.step;
  if (told.step >= 0 && told.epoch > 0) position += told.epoch * told.of;
  if (told.step < 0) position = position_ < 0 || step_ < 0 ? position_ + 1 : position_;
  const bool again = position == position_;
  // A bar is drawn again.
  if (again && (told.loss.empty() || phase_ == Phase::ended)) return;
  const bool back = position < position_;
  bool changed = back || phase_ != Phase::steps || lines_ == 0;
  if (back) {
    early_.clear();
    recent_.clear();
    samples_ = gap_ = 0;
    work_.clear();
    wait_.clear();
  }
  const std::int64_t longest = longest_us_;
  if (!again) measure(position, time, told);
  changed |= longest_us_ != longest;
  if (told.step >= 0) {
    step_ = told.step;
    epoch_ = told.epoch;
    if (first_step_ < 0) first_step_ = step_;
  }
  if (told.of > 0 || told.epoch >= 0) of_ = told.of;
  if (!told.epochs.empty()) epochs_ = told.epochs.substr(0, kMostWord);
  position_ = position;
  phase_ = Phase::steps;
  phase_since_ = {};
  heard_ = {};
  quiet_told_us_ = 0;
  quiet_untold_ = false;
  changed |= note_loss(told);
  ++lines_;
  untold_ = true;
  if (!again || time.known() || !last_.time.known()) keep(line, time, last_);
  if (changed || is_due(time)) give_steps(readings);
}

void TrainingTrack::measure(std::int64_t position, const EventTime& time,
                            const TrainingLine& told) {
  const std::int64_t steps = position_ < 0 ? 0 : position - position_;
  std::optional<std::int64_t> us;
  if (told.seconds) us = static_cast<std::int64_t>(*told.seconds * 1e6);
  if (!us && steps > 0)
    if (const auto all = passed(last_.time, time)) us = *all / steps;
  if (steps > 0) gap_ = steps;
  if (told.parts && steps >= 0) {
    keep_latest(told.parts->work, work_);
    keep_latest(told.parts->wait, wait_);
  }
  if (us) untold_us_ += std::min(kMostUs, *us) * std::clamp<std::int64_t>(steps, 1, kReportLines);
  // The time of a step after a save or an evaluation includes that, so it is no sample.
  if (!us || phase_ != Phase::steps || steps < 0) return;
  const std::int64_t usual = usual_us();
  if (usual > 0 && *us > kLongStep * usual && *us > longest_us_) {
    longest_us_ = *us;
    longest_step_ = told.step;
  }
  add_sample(*us);
}

void TrainingTrack::add_sample(std::int64_t us) {
  ++samples_;
  if (samples_ > kWarmUp && early_.size() < kMostSamples) early_.push_back(us);
  if (recent_.size() == kMostSamples) recent_.erase(recent_.begin());
  recent_.push_back(us);
  if (samples_ == kWarmUp + 1) recent_.erase(recent_.begin());
}

// True: the loss stopped being a number, or became a number again.
bool TrainingTrack::note_loss(const TrainingLine& told) {
  if (told.loss.empty()) return false;
  loss_ = told.loss.substr(0, kMostWord);
  if (!told.not_a_number) return std::exchange(nan_lines_, 0) > 0 && nan_runs_ <= 8;
  if (nan_lines_++ > 0) return false;
  nan_from_ = told.step >= 0 ? told.step : step_;
  // If the loss keeps changing, report it more and more rarely.
  return std::has_single_bit(static_cast<std::uint64_t>(++nan_runs_));
}

bool TrainingTrack::is_due(const EventTime& time) const {
  if (lines_ >= 2 * told_lines_ && told_lines_ < kReportLines) return true;
  if (const auto since = passed(told_at_, time)) return *since >= kReportEvery;
  return untold_us_ >= kReportEvery || lines_ - told_lines_ >= kReportLines;
}

void TrainingTrack::turn(const DocumentLine& line, const TrainingLine& told,
                         std::vector<DocumentReading>& readings) {
  const EventTime time = time_of(line, told);
  const Phase before = phase_;
  switch (told.what) {
    case TrainingLine::What::save_begins:
      phase_ = Phase::saving;
      break;
    case TrainingLine::What::evaluates:
      phase_ = Phase::evaluating;
      break;
    case TrainingLine::What::ended:
      phase_ = Phase::ended;
      break;
    default:
      if (phase_ == Phase::saving && told.what == TrainingLine::What::save_ends)
        longest_save_us_ = std::max(longest_save_us_, passed(phase_since_, time).value_or(0));
      phase_ = Phase::steps;
  }
  if (before == Phase::ended) phase_ = before;  // a save after the end saves the result
  if (phase_ == before) return;
  phase_since_ = time;
  heard_ = {};
  quiet_told_us_ = 0;
  quiet_untold_ = false;
  if (untold_) give_steps(readings);
  constexpr std::string_view kNames[] = {"steps", "save", "evaluation", "ended"};
  KeptLine here;
  keep(line, time, here);
  give({{"phase", std::string(kNames[static_cast<std::size_t>(phase_)])},
        {"phase step", count_or_nothing(told.step, 0)},
        {"longest save", in_seconds(longest_save_us_)}},
       here, readings);
}

void TrainingTrack::hear(const DocumentLine& line, std::vector<DocumentReading>& readings) {
  if (phase_ == Phase::ended || !line.time.known()) return;
  const EventTime& since = phase_since_.known() ? phase_since_ : last_.time;
  const auto quiet = passed(since, line.time);
  if (!quiet || *quiet < std::max(kQuietFor, kQuietGaps * between_lines_us())) return;
  if (const auto later = passed(heard_.time, line.time); heard_.time.known() && !later) return;
  keep(line, line.time, heard_);
  quiet_untold_ = true;
  if (*quiet < 2 * quiet_told_us_) return;
  quiet_told_us_ = *quiet;
  give_quiet(readings);
}

void TrainingTrack::finish(std::vector<DocumentReading>& readings) {
  if (untold_) give_steps(readings);
  if (quiet_untold_) give_quiet(readings);
}

std::int64_t TrainingTrack::usual_us() const {
  return recent_.size() < kFewSamples ? 0 : typical(recent_);
}

std::int64_t TrainingTrack::between_lines_us() const {
  const std::int64_t usual = typical(recent_);
  return std::min(kMostUs, usual) * std::clamp<std::int64_t>(gap_, 1, 1'000'000);
}

void TrainingTrack::give_steps(std::vector<DocumentReading>& readings) {
  untold_ = false;
  told_lines_ = lines_;
  told_at_ = last_.time;
  untold_us_ = 0;
  std::vector<NamedValue> values = {
      {"step", count_or_nothing(step_, 0)},
      {"of", count_or_nothing(of_, 1)},
      {"epoch", count_or_nothing(epoch_, 0)},
      {"epochs", epochs_},
      {"first step", count_or_nothing(first_step_, 0)},
      {"lines", std::to_string(lines_)},
      {"seconds", recent_.size() < 2 ? "" : in_seconds(typical(recent_))},
      {"seconds at first", early_.size() < kFewSamples ? "" : in_seconds(typical(early_))},
      {"seconds between lines", in_seconds(recent_.empty() ? 0 : between_lines_us())},
      {"longest seconds", in_seconds(longest_us_)},
      {"longest at step", count_or_nothing(longest_step_, 0)},
      {"loss", loss_},
      {"not a number since", nan_lines_ == 0 ? "" : count_or_nothing(nan_from_, 0)},
      {"not a number in", std::to_string(nan_lines_)},
      // The words with which a script reports evaluations and saves are not known.
      {"pauses", tool_ == kScriptTool ? "untold" : ""},
  };
  if (ranks_ > 0) values.push_back({"ranks", std::to_string(ranks_)});
  if (work_.size() >= kFewSamples) {
    values.push_back({"work seconds", in_seconds(median(work_))});
    values.push_back({"wait seconds", in_seconds(median(wait_))});
  }
  if (phase_ == Phase::steps) values.push_back({"phase", "steps"});
  give(std::move(values), last_, readings);
}

void TrainingTrack::give_quiet(std::vector<DocumentReading>& readings) {
  quiet_untold_ = false;
  give({{"heard", fmt::format("line {}", heard_.number)}}, heard_, readings);
}

void TrainingTrack::give(std::vector<NamedValue> values, const KeptLine& line,
                         std::vector<DocumentReading>& readings) const {
  PartReport report{.tool = tool_, .kind = "training", .names = {}, .values = std::move(values)};
  if (rank_ >= 0) report.names.push_back({"rank", std::to_string(rank_)});
  readings.push_back({{.fact = std::move(report)}, line});
}

std::size_t TrainingTrack::size() const {
  return sizeof *this + tool_.size() + last_.text.size() + heard_.text.size() +
         (early_.size() + recent_.size() + work_.size() + wait_.size()) * sizeof(std::int64_t);
}

void TrainingTrack::save(SavedBytesWriter& saved) const {
  saved.text(tool_);
  saved.number(rank_);
  for (const std::int64_t value :
       {lines_, position_, step_, of_, epoch_, first_step_, gap_, samples_, longest_us_,
        longest_step_, nan_from_, nan_lines_, nan_runs_, longest_save_us_, told_lines_, untold_us_,
        quiet_told_us_})
    saved.number(value);
  saved.text(epochs_);
  saved.text(loss_);
  last_.save(saved);
  heard_.save(saved);
  save_samples(saved, early_);
  save_samples(saved, recent_);
  saved.number(static_cast<std::int64_t>(phase_));
  save_time(saved, phase_since_);
  save_time(saved, told_at_);
  saved.number((untold_ ? 1 : 0) + (quiet_untold_ ? 2 : 0));
}

void TrainingTrack::restore(SavedBytesReader& saved) {
  tool_ = saved.text();
  rank_ = saved.small_number();
  for (std::int64_t* value :
       {&lines_, &position_, &step_, &of_, &epoch_, &first_step_, &gap_, &samples_, &longest_us_,
        &longest_step_, &nan_from_, &nan_lines_, &nan_runs_, &longest_save_us_, &told_lines_,
        &untold_us_, &quiet_told_us_})
    *value = std::clamp<std::int64_t>(saved.number(), -1, kMostCount);
  epochs_ = saved.text();
  loss_ = saved.text();
  last_.restore(saved);
  heard_.restore(saved);
  early_ = restored_samples(saved);
  recent_ = restored_samples(saved);
  phase_ = static_cast<Phase>(std::clamp<std::int64_t>(saved.number(), 0, 3));
  phase_since_ = restored_time(saved);
  told_at_ = restored_time(saved);
  const std::int64_t flags = saved.number();
  untold_ = (flags & 1) != 0;
  quiet_untold_ = (flags & 2) != 0;
}

void TrainingTrack::save_added(SavedBytesWriter& saved) const {
  saved.number(ranks_);
  save_samples(saved, work_);
  save_samples(saved, wait_);
}

void TrainingTrack::restore_added(SavedBytesReader& saved) {
  ranks_ = std::clamp(saved.small_number(), 0, kMaxRanks);
  work_ = restored_samples(saved);
  wait_ = restored_samples(saved);
}

}  // namespace faultline
