// Repeat offences: what one part did to several jobs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/cause.h"
#include "model/time.h"

namespace faultline {

// A fault of or on a part, in one job.
struct Failure {
  std::string job;
  Cause cause = Cause::none;
  Timestamp when;
};

struct Repeat {
  std::size_t jobs = 0;
  int days = 1;  // from the first failure to the last, rounded up
  std::vector<std::string> causes;
  Timestamp first;
  Timestamp last;
  std::string text;  // GPU 0000:3b:00.0 on gpu-node-3 failed three jobs in ten days
};

// Returns nothing for fewer than two jobs. Faults of programs on a part are counted apart from
// faults of the part itself; if both repeat, returns those of the part.
std::optional<Repeat> repeat_of(std::string_view part, const std::vector<Failure>& failures);

}  // namespace faultline
