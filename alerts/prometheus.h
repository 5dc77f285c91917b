// What Prometheus is told of findings. Labels are classes and severities only: hosts and jobs come
// and go without bound, and have their own answers.
#pragma once

#include "alerts/exposition.h"
#include "store/store.h"

namespace faultline {

// Counters and times of what happened, from all that the store keeps.
void write_findings(Exposition& out, Store& store);

}  // namespace faultline
