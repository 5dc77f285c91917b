// What a job must have shown before it is called healthy.
#pragma once

#include <string>

#include "rules/picture/view.h"

namespace faultline {

// Health is said only of ranks that got to work, of what measured the whole, and of what says
// itself that it came to its end.
bool enough_to_call_healthy(const View& view);

// "At its end it says: "..." (train.log, line 212)."; empty: it says no such thing.
std::string own_word_of_its_end(const View& view);

}  // namespace faultline
