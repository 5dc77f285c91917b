// Metrics about findings. Labels are classes and severities only: the number of hosts and jobs has
// no bound, and the API has answers for each of them.
#pragma once

#include "alerts/exposition.h"
#include "store/store.h"

namespace faultline {

// Writes counts and times of all findings and reviews that the store keeps.
void write_findings(Exposition& out, Store& store);

}  // namespace faultline
