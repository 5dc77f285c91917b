// The rank for which the others wait again and again, by the times of calls: no rank calls anything
// until the one rank that had not come yet makes its call. Such pauses are charged to that rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rules/picture/view.h"

namespace faultline {

struct LateMember {
  std::size_t communicator = 0;  // index into View::communicators
  std::size_t member = 0;
  std::size_t pauses = 0;       // pauses that its calls ended
  std::int64_t paused_ms = 0;   // the sum of these pauses
  std::int64_t longest_ms = 0;  // the longest of them
  std::int64_t others_ms = 0;   // pauses of the communicator that other members ended
  std::int64_t span_ms = 0;     // of the calls that were examined
};

// For each communicator whose calls are dated to the millisecond: the member to which most of the
// paused time is charged, if any is.
std::vector<LateMember> late_members(const View& view);

}  // namespace faultline
