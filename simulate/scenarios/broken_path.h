// A path between two ranks that lets nothing through any more.
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
// Chooses a path; cuts it.
Cut any_path(Injection& it);
void cut(Injection& it, const Cut& path);

// Lets both ends print that they give up, `after` they began to wait.
void give_up(Injection& it, int rank, int peer, std::chrono::milliseconds after);

}  // namespace faultline::simulation
