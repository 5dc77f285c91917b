// Ranks that come to a halt.
#include "simulate/scenarios/families.h"
#include "simulate/warnings.h"

namespace faultline::simulation {
namespace {

bool is_collective(const Call& call) { return !is_peer_to_peer(call.function) && call.count > 1; }

// Stops a rank somewhere in the run.
int stop_somewhere(Injection& it) {
  const int rank = it.any_rank();
  const Place place = it.any_place(rank, is_collective);
  it.stop(rank, place);
  it.blame_communicator(rank, it.call_at(rank, place).slot);
  return rank;
}

}  // namespace

void rank_behind(Injection& it) { it.blame_rank(stop_somewhere(it)); }

void gpu_memory_fault(Injection& it) {
  const int rank = stop_somewhere(it);
  it.last_words(rank, illegal_access(it.version));
  it.blame_rank(rank);
}

}  // namespace faultline::simulation
