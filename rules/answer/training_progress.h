// How far the training came, in words: said beside whatever was found.
#pragma once

#include <string>

#include "rules/picture/view.h"

namespace faultline {

// "Training (Megatron-LM): step 1520 of 50000 at 02:31:07, one every 4.2 s until then; nothing for
// 16 min."; empty: no line tells of a step.
std::string training_in_words(const View& view);

bool has_training(const View& view);  // some line tells of it

}  // namespace faultline
