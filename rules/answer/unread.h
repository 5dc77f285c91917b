// Lines that look like trouble and that nobody reads, for whoever is left without a sure cause.
#pragma once

#include <vector>

#include "model/finding.h"
#include "rules/picture/view.h"

namespace faultline {

// None where a cause is sure, or all is well.
std::vector<UnreadNote> unread_of(const View& view, const Diagnosis& diagnosis);

}  // namespace faultline
