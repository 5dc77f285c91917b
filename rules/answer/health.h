// What a job must have shown before it is called healthy.
#pragma once

#include <string>

#include "rules/picture/view.h"

namespace faultline {

// True only if ranks got to work, if tests or profiles measured the job, or if the job itself says
// that it finished.
bool enough_to_call_healthy(const View& view);

// "At its end the log says: "..." (train.log, line 212)."; empty: no line says so.
std::string own_word_of_its_end(const View& view);

}  // namespace faultline
