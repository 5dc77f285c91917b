// Where the records of NCCL's Inspector end.
//
// Inspector records what completed, not what was called. A collective completes on one rank only if
// all its ranks took part. So in a hang all records end at the same operation and do not show which
// rank stopped. That they end is only information, as every job ends somewhere. If the records of a
// rank end much earlier than those of its peers, it still took part in what the peers completed. So
// not its collectives stopped but its process, or its log was cut. That is only a suspicion.
#pragma once

#include <vector>

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_inspected_ends(const View& view);

}  // namespace faultline
