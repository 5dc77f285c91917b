// Durations of settings. A query may leave the unit out and mean seconds; whoever sets how long to
// keep something may mean days, so a setting needs one.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace faultline {

// 500ms, 90s, 5m, 1h, 7d, and 0.
std::optional<std::chrono::milliseconds> setting_duration(std::string_view text);

struct DurationLimits {
  std::chrono::milliseconds least{0};
  std::string_view zero;  // what 0 means, such as "for ever"; empty: it means nothing
};

// What is wrong with it; empty: nothing.
std::string wrong_duration(std::string_view text, const DurationLimits& limits);

}  // namespace faultline
