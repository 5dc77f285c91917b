// Causes that one part shows by itself: a process, a host, a NIC.
#pragma once

#include "rules/detect/remarks/wording.h"
#include "rules/knowledge/suspicion.h"

namespace faultline {

// One suspicion per class and part, however many lines and processes report it.
std::vector<Suspicion> suspect_parts(const View& view, const SightingList& causes);

}  // namespace faultline
