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
      false;  // the job is special even without the fault: inject is called for twins too
  std::string_view twins;  // the kinds of its twins, the usual one first

  std::string_view needs = {};  // further evidence, without which the fault does not show

  bool has(Twin twin) const { return twins.find(name_of(twin)) != std::string_view::npos; }
};

std::span<const Scenario> scenarios();
const Scenario* scenario_named(std::string_view name);

}  // namespace faultline::simulation
