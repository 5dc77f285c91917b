// Where chains of waiting ranks end: at a rank that does not wait, or in a circle.
#pragma once

#include <set>
#include <vector>

#include "rules/picture/calls/p2p_waits.h"

namespace faultline {

struct WaitEnd {
  std::set<std::size_t> workers;  // one that does not wait, or several that wait in a circle
  bool behind = false;            // it is a single worker that is behind in a collective
};

// Over all waits: in Sends, Recvs and collectives.
std::vector<WaitEnd> ends_of_waits(const View& view, const std::vector<P2pGap>& gaps);

}  // namespace faultline
