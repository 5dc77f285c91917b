// The scenarios: what can be wrong with a synthetic job.
#pragma once

#include <span>
#include <string_view>

namespace faultline {

struct Scenario {
  std::string_view name;   // rank_behind, gpu_off_bus, …
  std::string_view cause;  // the class that a diagnosis should give; empty: healthy
  std::string_view about;  // one line for --list
};

std::span<const Scenario> scenarios();

}  // namespace faultline
