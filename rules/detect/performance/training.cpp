#include "rules/detect/performance/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "rules/detect/performance/measured.h"

namespace faultline {
namespace {

constexpr double kSlower = 1.5;  // times as long as at first; data and sequence lengths vary less

const LineRef* latest_line(const View& view, const PartRecord& record, std::string_view name) {
  const PartSeries* series = view.job.parts().find(record, name);
  return series == nullptr ? nullptr : series->last().line.get();
}

Training::Phase phase_named(std::string_view name) {
  if (name == "save") return Training::Phase::saving;
  if (name == "evaluation") return Training::Phase::evaluating;
  return name == "ended" ? Training::Phase::ended : Training::Phase::steps;
}

// Seconds between the lines; nothing if a time is not known, or only one assumes its time zone.
std::optional<double> passed(const LineRef* from, const LineRef* to) {
  if (from == nullptr || to == nullptr || !from->time.known() || !to->time.known() ||
      from->time.zone_assumed != to->time.zone_assumed)
    return std::nullopt;
  return std::chrono::duration<double>(*to->time.wall() - *from->time.wall()).count();
}

Training training_in(const View& view, const PartRecord& record) {
  const auto number = [&](std::string_view name) {
    return number_in(view, record, name).value_or(0);
  };
  Training training{.record = &record,
                    .step = text_in(view, record, "step"),
                    .of = text_in(view, record, "of"),
                    .epoch = text_in(view, record, "epoch"),
                    .epochs = text_in(view, record, "epochs"),
                    .line = latest_line(view, record, "lines"),
                    .usual = number("seconds"),
                    .at_first = number("seconds at first"),
                    .between_lines = number("seconds between lines"),
                    .longest = number("longest seconds"),
                    .longest_step = text_in(view, record, "longest at step"),
                    .not_a_number_since = text_in(view, record, "not a number since"),
                    .not_a_number = number("not a number in") > 0,
                    .pauses_told = text_in(view, record, "pauses").empty(),
                    .phase = phase_named(text_in(view, record, "phase")),
                    .phase_step = text_in(view, record, "phase step"),
                    .longest_save = number("longest save")};
  if (training.phase != Training::Phase::steps)
    training.phase_line = latest_line(view, record, "phase");
  training.heard = latest_line(view, record, "heard");
  return training;
}

// Whether a is later than b. If the times do not show it: whether a came further, or says more.
bool is_later(const Training& a, const Training& b) {
  if (const auto seconds = passed(a.line, b.line); seconds && *seconds != 0) return *seconds < 0;
  const auto key = [](const Training& training) {
    return std::tuple(training.line != nullptr, !training.of.empty(),
                      leading_number(training.step).value_or(-1), training.usual > 0);
  };
  return key(a) > key(b);
}

}  // namespace

double Training::quiet() const {
  double seconds = 0;
  for (const LineRef* since : {line, phase_line}) {
    if (since == nullptr) continue;
    const auto after = passed(since, heard);
    if (!after) return 0;
    seconds = seconds == 0 ? *after : std::min(seconds, *after);
  }
  return std::max(seconds, 0.0);
}

bool Training::is_slower() const { return at_first > 0 && usual > kSlower * at_first; }

std::optional<Training> training_of(const View& view) {
  std::optional<Training> latest;
  std::vector<Training> all;
  for (const PartRecord& record : view.job.parts().records())
    if (record.kind == "training") all.push_back(training_in(view, record));
  for (const Training& training : all)
    if (!latest || is_later(training, *latest)) latest = training;
  // One rank may print the steps, and another the saves.
  if (latest && latest->phase == Training::Phase::steps)
    for (const Training& other : all)
      if (other.record->tool == latest->record->tool && other.phase != Training::Phase::steps &&
          passed(latest->line, other.phase_line).value_or(-1) >= 0) {
        latest->phase = other.phase;
        latest->phase_step = other.phase_step;
        latest->phase_line = other.phase_line;
        latest->longest_save = other.longest_save;
      }
  return latest;
}

std::optional<bool> Training::made_all_steps() const {
  const auto made = leading_number(step);
  const auto all = leading_number(of);
  return made && all ? std::optional(*made >= *all) : std::nullopt;
}

bool training_ended(const View& view) {
  const std::optional<Training> training = training_of(view);
  if (!training || training->phase != Training::Phase::ended) return false;
  const auto made = leading_number(training->step);
  const auto all = leading_number(training->of);
  return !made || !all || *made + 1 >= *all;  // some count from 0
}

std::string step_in_words(const Training& training) {
  if (training.step.empty())
    return training.epochs.empty() ? std::string() : "epoch " + training.epochs;
  return fmt::format("step {}{}{}", training.step, training.of.empty() ? "" : " of " + training.of,
                     training.epoch.empty() ? "" : " in epoch " + training.epoch);
}

std::string seconds_in_words(double seconds) {
  if (seconds >= 120) return fmt::format("{:.0f} min", seconds / 60);
  return seconds >= 10 ? fmt::format("{:.0f} s", seconds) : fmt::format("{:.2g} s", seconds);
}

}  // namespace faultline
