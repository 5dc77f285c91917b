// Where chains of waiting end: at a rank that waits for nobody, or in a circle.
#pragma once

#include <set>
#include <vector>

#include "rules/picture/calls/p2p_waits.h"

namespace faultline {

struct WaitEnd {
  std::set<std::size_t> workers;  // one that waits for nobody, or several that wait in a circle
  bool behind = false;            // one that is behind in a collective
};

// Of all waiting, in Sends and Recvs and in collectives.
std::vector<WaitEnd> ends_of_waits(const View& view, const std::vector<P2pGap>& gaps);

}  // namespace faultline
