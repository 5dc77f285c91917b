// The checks that people make by hand when a job hangs, each with its answer (pass, fail or
// unknown) and the reason.
#pragma once

#include <vector>

#include "model/finding.h"
#include "rules/picture/view.h"

namespace faultline {

// `diagnosis` must have its findings and its verdict already.
std::vector<Check> checklist_of(const View& view, const Diagnosis& diagnosis);

}  // namespace faultline
