// The questions that people go through by hand when a job stands, answered: pass, fail or unknown,
// and why.
#pragma once

#include <vector>

#include "model/finding.h"
#include "rules/picture/view.h"

namespace faultline {

// `diagnosis` has its findings and its verdict.
std::vector<Check> checklist_of(const View& view, const Diagnosis& diagnosis);

}  // namespace faultline
