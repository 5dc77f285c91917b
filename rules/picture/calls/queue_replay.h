// Which of the calls that ranks had queued can have run. A GPU runs the calls of its rank in order;
// a collective ends when all its members have entered it, a Send or Recv when its peer has. In a
// replay of the logs, some ranks run all that they queued: the others wait for them, or, if there
// are many such ranks in different places, for something that no log shows.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rules/picture/view.h"

namespace faultline {

struct QueueReplay {
  // By worker: launches that could not run; 0: it ran all that it had queued.
  std::vector<std::uint64_t> pending;
  std::vector<std::size_t> drained;  // workers
  std::uint64_t least_pending = 0;   // of the workers that wait
  std::uint64_t most_pending = 0;
  std::size_t waiting = 0;

  // Ranks queue about the same number of calls, so ranks that stopped stand out clearly from ranks
  // that wait. If no rank stopped but some call does not end, the shortest queues only look as if
  // they had.
  bool is_clear() const { return least_pending >= most_pending - least_pending; }
};

// The smallest communicators (indices into view.communicators) whose ranks queued little after a
// call that does not end, while all other ranks queued clearly more and wait for them.
std::vector<std::size_t> groups_with_short_queues(const View& view, const QueueReplay& replay);

// nullopt if the order of calls is not known well enough.
std::optional<QueueReplay> replay_queues(const View& view);

}  // namespace faultline
