// The diagnosis in a sentence or two.
#pragma once

#include <string>

#include "model/finding.h"
#include "rules/picture/view.h"

namespace faultline {

std::string summary_of(const View& view, const Diagnosis& diagnosis);

}  // namespace faultline
