// Sends and Recvs that do not pair up: a call left out, sizes that differ, ranks that wait for each
// other in a circle; and ranks that stopped while a peer waits in a Send or Recv.
#pragma once

#include <vector>

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_p2p_mismatches(const View& view);

}  // namespace faultline
