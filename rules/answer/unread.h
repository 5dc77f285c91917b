// Lines that look like trouble and that no rule reads: shown if no cause is sure.
#pragma once

#include <vector>

#include "model/finding.h"
#include "rules/picture/view.h"

namespace faultline {

// Empty if a cause is sure or the job is healthy.
std::vector<UnreadNote> unread_of(const View& view, const Diagnosis& diagnosis);

}  // namespace faultline
