// Durations of settings. A query without a unit means seconds. A setting needs a unit, because
// somebody who sets how long to keep something may mean days.
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

// What is wrong with `text`; empty: nothing.
std::string wrong_duration(std::string_view text, const DurationLimits& limits);

}  // namespace faultline
