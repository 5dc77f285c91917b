// The list of faults that are tested.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "faults/lane.h"

namespace faultline::faults {

struct Kind {
  std::string_view name;
  std::string_view what;
  std::size_t rounds;         // in a whole run
  std::size_t sample_rounds;  // in the sample that the tests run
  std::function<void(Lane&)> run;
  bool refuses_memory = false;
};

std::span<const Kind> kinds();

}  // namespace faultline::faults
