#include "service/counter_history.h"

#include <algorithm>
#include <chrono>

namespace faultline {
namespace {

constexpr double kLeastHours = 10.0 / 3600;  // closer readings give no rate

// Orders the readings by time if at least two have a time. Otherwise returns the readings of one
// job, the last that has several, in the order of its log.
std::vector<CounterReading> in_order(const std::vector<const CounterSeries*>& by_job) {
  std::vector<CounterReading> dated;
  std::vector<CounterReading> of_one_job;
  for (const CounterSeries* series : by_job) {
    for (const CounterReading& reading : series->readings)
      if (reading.time) dated.push_back(reading);
    if (series->readings.size() > 1) of_one_job = series->readings;
  }
  if (dated.size() < 2) return of_one_job;
  std::ranges::stable_sort(dated, {}, [](const CounterReading& reading) { return *reading.time; });
  return dated;
}

}  // namespace

std::optional<CounterHistory> history_of(const std::vector<const CounterSeries*>& by_job) {
  const std::vector<CounterReading> readings = in_order(by_job);
  if (readings.size() < 2) return std::nullopt;
  CounterHistory history{.first = readings.front(), .last = readings.back()};
  for (std::size_t i = 1; i < readings.size(); ++i) {
    const std::uint64_t before = readings[i - 1].value;
    const std::uint64_t now = readings[i].value;
    history.cleared |= now < before;
    history.delta += now < before ? now : now - before;
  }
  const auto full_at = by_job.front()->full_at;
  history.at_least = history.cleared || (full_at && history.last.value >= *full_at);
  if (history.first.time && history.last.time) {
    const double hours =
        std::chrono::duration<double, std::ratio<3600>>(*history.last.time - *history.first.time)
            .count();
    if (hours >= kLeastHours) history.rate_per_hour = static_cast<double>(history.delta) / hours;
  }
  return history;
}

}  // namespace faultline
