// How a counter changed between its first and its last reading, over the logs of all jobs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/host_views.h"

namespace faultline {

struct CounterHistory {
  CounterReading first;
  CounterReading last;
  std::uint64_t delta = 0;
  bool at_least = false;  // the counter is full, or was cleared in between
  bool cleared = false;
  std::optional<double> rate_per_hour;
};

// `by_job`: readings of one counter by one tool, job after job. Returns nothing if fewer than two
// readings can be put in order.
std::optional<CounterHistory> history_of(const std::vector<const CounterSeries*>& by_job);

}  // namespace faultline
