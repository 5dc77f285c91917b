// The scenarios: what can be wrong with a synthetic job.
#pragma once

#include <span>
#include <string_view>

#include "simulate/injection.h"

namespace faultline::simulation {

struct Scenario {
  std::string_view name;   // rank_behind, gpu_off_bus, …
  std::string_view cause;  // the class that a diagnosis should give; empty: healthy
  std::string_view about;  // one line for --list
  void (*inject)(Injection&) = nullptr;
  bool prepares =
      false;  // its job differs from others, fault or not: inject is asked for twins, too
  std::string_view twins;  // the kinds of twins that it has, the usual one first

  std::string_view needs = {};  // evidence besides the usual, without which nothing shows

  bool has(Twin twin) const { return twins.find(name_of(twin)) != std::string_view::npos; }
};

std::span<const Scenario> scenarios();
const Scenario* scenario_named(std::string_view name);

}  // namespace faultline::simulation
