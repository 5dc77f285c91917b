// What a GPU did to other jobs before this one.
#pragma once

#include <string_view>
#include <vector>

#include "rules/detectors/detector.h"

namespace faultline {

// Of the GPUs the suspicion is about: those of the same class, before what it is about began.
std::vector<const PastOffence*> offences_before(const View& view, std::string_view cause,
                                                const Suspicion& suspicion);

// Their lines, as evidence that names their jobs; the latest first.
void add_past_lines(const std::vector<const PastOffence*>& before, Finding& finding);

}  // namespace faultline
