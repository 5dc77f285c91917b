// Repeat offences: what one part did to several jobs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/cause.h"
#include "model/time.h"

namespace faultline {

// A job came to grief on a part.
struct Failure {
  std::string job;
  Cause cause = Cause::none;
  Timestamp when;
};

struct Repeat {
  std::size_t jobs = 0;
  int days = 1;  // that lie between the first and the last, begun ones counted
  std::vector<std::string> causes;
  Timestamp first;
  Timestamp last;
  std::string text;  // GPU 0000:3b:00.0 on gpu-node-3 failed three jobs in ten days
};

// Nothing unless it is two jobs at least. What programs did wrong on a part is told apart from what
// the part did, which is told if there is both.
std::optional<Repeat> repeat_of(std::string_view part, const std::vector<Failure>& failures);

}  // namespace faultline
