// Connections that failed, and which of their ends is at fault. A line tells only what one end saw;
// many lines may have an end in common.
#pragma once

#include "rules/detect/remarks/wording.h"
#include "rules/knowledge/suspicion.h"

namespace faultline {

// `told` is all that was said: a line may tell which NIC has the address that another one names.
std::vector<Suspicion> suspect_ends(const View& view, const SightingList& causes,
                                    const std::vector<Sighting>& told);

}  // namespace faultline
