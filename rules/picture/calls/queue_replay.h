// What of the calls that ranks had queued can have run. A GPU runs the calls of its rank in their
// order; a collective ends when all its members have come to it, a Send or Recv when its peer has.
// Played from what the logs tell, some ranks come to the end of what they queued: the others wait
// for them, or, if there are many such ranks here and there, for something that no log shows.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rules/picture/view.h"

namespace faultline {

struct QueueReplay {
  // By worker: launches that could not run, whatever else ran; 0: it did all it had queued.
  std::vector<std::uint64_t> pending;
  std::vector<std::size_t> drained;  // workers
  std::uint64_t least_pending = 0;   // of those that wait
  std::uint64_t most_pending = 0;
  std::size_t waiting = 0;

  // Ranks queue about as much each. So those that stopped are clearly apart from those that wait;
  // where nobody stopped, but some call does not end, the shortest queues only seem to be.
  bool is_clear() const { return least_pending >= most_pending - least_pending; }
};

// The smallest communicators (indices into view.communicators) whose ranks queued little after a
// call that does not end, while all others queued clearly more and wait for them.
std::vector<std::size_t> groups_with_short_queues(const View& view, const QueueReplay& replay);

// Nothing if the order of calls is not known well enough.
std::optional<QueueReplay> replay_queues(const View& view);

}  // namespace faultline
