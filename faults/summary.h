// The table at the end of a run.
#pragma once

#include <string>
#include <string_view>

#include "faults/lane.h"

namespace faultline::faults {

std::string summary_head();
std::string summary_row(std::string_view kind, const Tally& tally, double seconds);
// What the seed of each round chose, if the seed alone decides it.
std::string choices_of(std::string_view kind, const Tally& tally);
// Each failed round with its seed and the command that repeats it, and how many rounds proved
// nothing; empty: all is well.
std::string failures_of(std::string_view kind, const Tally& tally);

}  // namespace faultline::faults
