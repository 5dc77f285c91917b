// Ranks that come to a halt.
#include "simulate/scenarios/families.h"

namespace faultline::simulation {

void rank_behind(Injection& it) {
  const int rank = it.any_rank();
  const Place place = it.any_place(
      rank, [](const Call& call) { return !is_peer_to_peer(call.function) && call.count > 1; });
  it.stop(rank, place);
  it.blame_rank(rank);
  it.blame_communicator(rank, it.call_at(rank, place).slot);
}

}  // namespace faultline::simulation
