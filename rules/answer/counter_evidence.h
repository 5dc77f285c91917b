// What speaks against a cause. It is shown with the cause.
#pragma once

#include <vector>

#include "model/finding.h"
#include "rules/picture/view.h"

namespace faultline {

void add_counter_evidence(const View& view, std::vector<Finding>& root_causes);

}  // namespace faultline
