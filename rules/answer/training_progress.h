// How far the training came, in words; said in addition to any finding.
#pragma once

#include <string>

#include "rules/picture/view.h"

namespace faultline {

// "Training (Megatron-LM): step 1520 of 50000 at 02:31:07, one every 4.2 s until then; nothing for
// 16 min."; empty: no line reports a step.
std::string training_in_words(const View& view);

bool has_training(const View& view);  // some line reports it

}  // namespace faultline
