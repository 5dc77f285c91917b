// What a counter did between its first reading and its last, whichever jobs' logs hold them.
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
  bool at_least = false;  // it is full, or was cleared in between
  bool cleared = false;
  std::optional<double> rate_per_hour;
};

// Readings of one counter by one tool, a job's after another's. Nothing if there are fewer than two
// that can be put in order.
std::optional<CounterHistory> history_of(const std::vector<const CounterSeries*>& by_job);

}  // namespace faultline
