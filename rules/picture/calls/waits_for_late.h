// Whom the others wait for again and again, by the times of calls: nobody calls anything until one
// rank, which alone had not come yet, makes its call. Such pauses are laid on that rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rules/picture/view.h"

namespace faultline {

struct LateMember {
  std::size_t communicator = 0;  // index into View::communicators
  std::size_t member = 0;
  std::size_t pauses = 0;       // that its calls ended
  std::int64_t paused_ms = 0;   // all of them
  std::int64_t longest_ms = 0;  // of them
  std::int64_t others_ms = 0;   // pauses of the communicator that other members ended
  std::int64_t span_ms = 0;     // of the calls that were looked at
};

// Of each communicator whose calls are dated to the millisecond, the member that most of the time
// was spent on, if any was.
std::vector<LateMember> late_members(const View& view);

}  // namespace faultline
