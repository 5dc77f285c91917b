// A path between two ranks on which nothing gets through any more.
#pragma once

#include <chrono>
#include <utility>

#include "simulate/injection.h"

namespace faultline::simulation {

// How long NCCL tries before it gives up on a peer.
std::chrono::milliseconds retries(const NcclVersion& version);

int slot_between_hosts(const Injection& it);

struct Cut {
  int rank = -1;  // -1: nothing leaves a host
  int peer = -1;
  Place place;
};
// Where one could be, and the cut.
Cut any_path(Injection& it);
void cut(Injection& it, const Cut& path);

// What both ends say of it, that long after they began to wait.
void give_up(Injection& it, int rank, int peer, std::chrono::milliseconds after);

}  // namespace faultline::simulation
