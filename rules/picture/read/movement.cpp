#include "rules/picture/read/movement.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

namespace faultline {
namespace {

constexpr double kNearlyFull = 3.0 / 4;  // above this share of the maximum, a fall may be a wrap
// closer samples may be the same reading of the adapter
constexpr double kLeastHours = 10.0 / 3600;
// Shorter times count as this long: a few errors in a few seconds make no rate per hour.
constexpr double kShortestHours = 1.0 / 6;
// If no time is known, assume a whole day, so that no part is called faulty too easily.
constexpr double kHoursIfUnknown = 24;

struct Reading {
  std::uint64_t value = 0;
  const LineRef* line = nullptr;
};

struct Series {
  const CounterMeaning* counter = nullptr;
  std::string spelling;
  std::string tool;
  const PartRecord* record = nullptr;
  std::vector<Reading> readings;
};

std::optional<std::uint64_t> count_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The name that distinguishes the links of a GPU.
std::string within(const PartRecord& record) {
  return record.kind == "nvlink" ? std::string(record.name("link")) : std::string();
}

using SeriesMap = std::map<std::string, Series>;

void collect(const Parts& parts, const CountersCatalog& catalog, const PartRecord& record,
             SeriesMap& all) {
  for (const PartSeries& values : record.values) {
    const std::string& spelling = parts.text(values.name);
    const CounterMeaning* counter = catalog.find(spelling);
    if (counter == nullptr || counter->gauge) continue;
    Series& series = all[fmt::format("{} {} {}", record.tool, within(record),
                                     CountersCatalog::normalised(spelling))];
    series.counter = counter;
    series.spelling = spelling;
    series.tool = record.tool;
    series.record = &record;
    for (const PartSample& sample : values.samples)
      if (const auto value = count_of(sample.value))
        series.readings.push_back({*value, sample.line.get()});
  }
}

void sort_in_time(std::vector<Reading>& readings) {
  // Insertion sort, because the order in time is not total, and there are few readings.
  for (std::size_t i = 1; i < readings.size(); ++i)
    for (std::size_t j = i; j > 0 && order_of(readings[j].line->time, readings[j - 1].line->time,
                                              true) == Order::before;
         --j)
      std::swap(readings[j], readings[j - 1]);
}

bool order_is_known(const Reading& a, const Reading& b) {
  return a.line->source == b.line->source ||
         order_of(a.line->time, b.line->time, true) != Order::cannot_tell;
}

// How many counters fell up to the same line: if several fell at once, they were cleared.
using Falls = std::map<const LineRef*, int>;

Falls falls_in(const SeriesMap& all) {
  Falls falls;
  for (const auto& [key, series] : all)
    for (std::size_t i = 1; i < series.readings.size(); ++i)
      if (series.readings[i].value < series.readings[i - 1].value) ++falls[series.readings[i].line];
  return falls;
}

bool is_full(const CounterWidth& width, std::uint64_t value) {
  return (width.saturates || width.open) && value == width.most;
}

// Adds the step from one reading to the next.
void step(const CounterWidth& width, const Reading& from, const Reading& to, int fell_together,
          Movement& movement) {
  if (!order_is_known(from, to)) {
    movement.order_unknown = true;
    movement.growth += std::max(from.value, to.value) - std::min(from.value, to.value);
    return;
  }
  if (to.value >= from.value) {
    movement.growth += to.value - from.value;
    return;
  }
  const bool may_wrap = width.wraps && static_cast<double>(from.value) >
                                           kNearlyFull * static_cast<double>(width.most);
  if (may_wrap && fell_together <= 1) {
    movement.growth += width.most - from.value + to.value + 1;
    return;
  }
  movement.cleared = movement.at_least = true;
  movement.growth += to.value;
}

std::optional<double> hours_between(const LineRef& from, const LineRef& to) {
  if (!from.time.known() || !to.time.known() || from.time.zone_assumed != to.time.zone_assumed)
    return std::nullopt;
  const double hours = static_cast<double>(*to.time.wall_us - *from.time.wall_us) / 1e6 / 3600;
  return hours >= kLeastHours ? std::optional(hours) : std::nullopt;
}

// A full counter cannot rise, so it does not show that errors stopped.
std::optional<double> still_for(const std::vector<Reading>& readings, const CounterWidth& width) {
  const Reading& end = readings.back();
  if (is_full(width, end.value)) return std::nullopt;
  std::size_t since = readings.size() - 1;
  while (since > 0 && readings[since - 1].value == end.value) --since;
  if (since + 1 == readings.size()) return std::nullopt;
  return hours_between(*readings[since].line, *end.line);
}

Movement movement_of(const Series& series, const CounterWidth& width, const Phases& phases,
                     const Falls& falls) {
  const std::vector<Reading>& readings = series.readings;
  // Starts from the last reading before the job.
  std::size_t first = 0;
  while (first + 2 < readings.size() && phases.is_before(readings[first + 1].line->time)) ++first;
  Movement movement{.counter = series.counter, .spelling = series.spelling, .tool = series.tool};
  for (std::size_t i = first + 1; i < readings.size(); ++i) {
    const auto fell = falls.find(readings[i].line);
    step(width, readings[i - 1], readings[i], fell == falls.end() ? 0 : fell->second, movement);
  }
  const Reading& begin = readings[first];
  const Reading& end = readings.back();
  movement.value = end.value;
  movement.full = is_full(width, end.value);
  movement.full_before = movement.full && is_full(width, begin.value) && movement.growth == 0;
  movement.at_least |= movement.full;
  movement.before_job = phases.is_before(end.line->time);
  movement.from = begin.line;
  movement.to = end.line;
  if (!movement.order_unknown) {
    movement.hours = hours_between(*begin.line, *end.line);
    movement.still = still_for(readings, width);
  }
  return movement;
}

// A single reading of a tool that says how long it has counted.
std::optional<Movement> since_clear(const Parts& parts, const CountersCatalog& catalog,
                                    const Series& series) {
  const std::string* name = catalog.clear_age(series.tool);
  if (!series.counter->alone || name == nullptr || series.readings.empty()) return std::nullopt;
  const PartSeries* age = parts.find(*series.record, *name);
  if (age == nullptr) return std::nullopt;
  double minutes = 0;
  const std::string& text = age->last().value;
  if (std::from_chars(text.data(), text.data() + text.size(), minutes).ec != std::errc() ||
      !(minutes > 0))
    return std::nullopt;
  const Reading& only = series.readings.back();
  return Movement{.counter = series.counter,
                  .spelling = series.spelling,
                  .tool = series.tool,
                  .growth = only.value,
                  .value = only.value,
                  .since_clear = true,
                  .hours = minutes / 60,
                  .from = only.line,
                  .to = only.line};
}

void subtract(const std::vector<std::pair<std::string, Movement>>& all, Movement& from,
              const std::string& key_without_name) {
  for (const std::string& name : from.counter->minus)
    for (const auto& [key, other] : all)
      if (key == key_without_name + name) from.growth -= std::min(from.growth, other.growth);
}

// Several tools may have read the same counter: the most informative reading is kept.
bool tells_more(const Movement& a, const Movement& b) {
  const auto worth = [](const Movement& m) {
    return std::make_tuple(!m.full_before, m.rate().has_value(), !m.order_unknown, !m.full,
                           m.growth);
  };
  return worth(a) > worth(b);
}

void keep(Movement movement, std::map<std::string, Movement>& best) {
  const bool numbered = movement.counter->name.find('#') != std::string::npos;
  const std::string key = fmt::format(
      "{} {}", movement.link,
      numbered ? CountersCatalog::normalised(movement.spelling) : movement.counter->name);
  const auto [at, is_new] = best.try_emplace(key, movement);
  if (!is_new && tells_more(movement, at->second)) at->second = std::move(movement);
}

std::string plainly(double number) {
  return number >= 10 ? fmt::format("{:.0f}", number) : fmt::format("{:.1f}", number);
}

}  // namespace

std::optional<double> Movement::rate() const {
  if (!hours) return std::nullopt;
  return static_cast<double>(growth) / *hours;
}

std::vector<Movement> movements_of(const Parts& parts, const CountersCatalog& catalog,
                                   const Phases& phases,
                                   std::span<const PartRecord* const> records) {
  SeriesMap all;
  for (const PartRecord* record : records) collect(parts, catalog, *record, all);
  for (auto& [key, series] : all) sort_in_time(series.readings);
  const Falls falls = falls_in(all);
  std::vector<std::pair<std::string, Movement>> moved;
  for (const auto& [key, series] : all) {
    if (series.readings.size() >= 2)
      moved.emplace_back(
          key, movement_of(series, catalog.width_of(*series.counter, series.tool), phases, falls));
    else if (auto once = since_clear(parts, catalog, series))
      moved.emplace_back(key, std::move(*once));
    else
      continue;
    moved.back().second.link = within(*series.record);
  }
  std::map<std::string, Movement> best;
  for (auto& [key, movement] : moved) {
    subtract(moved, movement, key.substr(0, key.rfind(' ') + 1));
    keep(movement, best);
  }
  std::vector<Movement> movements;
  for (auto& [name, movement] : best) movements.push_back(std::move(movement));
  return movements;
}

Level level_of(const Movement& movement) {
  const CounterMeaning& counter = *movement.counter;
  if (counter.of->finding == Cause::none || !counter.suspect || movement.growth == 0)
    return Level::nothing;
  const auto growth = static_cast<double>(movement.growth);
  const double hours = std::max(movement.hours.value_or(kHoursIfUnknown), kShortestHours);
  const bool suspect =
      movement.hours ? growth / hours > *counter.suspect : growth > *counter.suspect;
  if (!suspect) return Level::nothing;
  return counter.faulty && growth / hours > *counter.faulty ? Level::faulty : Level::suspect;
}

std::string in_words(const Movement& movement) {
  std::string text = fmt::format("{} rose by {}{}", movement.spelling,
                                 movement.at_least ? "at least " : "", movement.growth);
  if (movement.since_clear)
    text = fmt::format("{} counted {} in the {} h since it was cleared", movement.spelling,
                       movement.growth, plainly(*movement.hours));
  else if (movement.hours && *movement.hours < 1)
    text += fmt::format(" in {} min", plainly(*movement.hours * 60));
  else if (movement.hours)
    text += fmt::format(" in {} h", plainly(*movement.hours));
  else
    text += " between two readings without times";
  if (const auto rate = movement.rate(); rate && !movement.since_clear)
    text += fmt::format(" ({} per hour)", plainly(*rate));
  if (movement.full) text += ", and is full";
  if (movement.cleared) text += ", and was cleared in between";
  return text;
}

}  // namespace faultline
