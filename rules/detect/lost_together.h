// GPUs of one host that fall off the bus at once share what failed: a board, a riser, a PCIe
// switch, power.
#pragma once

#include <vector>

#include "rules/detect/detector.h"

namespace faultline {

// Says so in the titles and actions of those that were lost together.
void tell_who_was_lost_together(const View& view, std::vector<Suspicion>& found);

}  // namespace faultline
