// Connections that failed, and which of their ends is at fault. A line shows only what one end saw;
// many lines may have an end in common.
#pragma once

#include "rules/detect/remarks/wording.h"
#include "rules/knowledge/suspicion.h"

namespace faultline {

// `told`: all remarks. One line may say which NIC has the address that another line names.
std::vector<Suspicion> suspect_ends(const View& view, const SightingList& causes,
                                    const std::vector<Sighting>& told);

}  // namespace faultline
