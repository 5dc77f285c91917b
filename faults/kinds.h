// The list of faults that are tried.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "faults/lane.h"

namespace faultline::faults {

struct Kind {
  std::string_view name;
  std::string_view what;
  std::size_t rounds;         // of a whole run
  std::size_t sample_rounds;  // of the sample among the tests
  std::function<void(Lane&)> run;
};

std::span<const Kind> kinds();

}  // namespace faultline::faults
