// What scripts print of their steps in words of their own: "Epoch 3/16", "Train Epoch: 1 [640/60000
// (1%)] Loss: 2.3", "iter 1200: loss 2.34, time 140 ms", "Step 100 | loss 2.3".
#pragma once

#include <optional>
#include <string_view>

#include "parsers/training/training_line.h"

namespace faultline {

// As whose steps they are told.
inline constexpr std::string_view kScriptTool = "script";

// Quick. Of a text that it denies, read_script_step knows nothing.
bool begins_script_step(std::string_view text);

// A counter alone is no step of a training ("Step 3/12 : RUN make"): beside it stands what is
// measured of one, or it is an epoch of a number of epochs and nothing else.
std::optional<TrainingLine> read_script_step(std::string_view text, bool cut);

}  // namespace faultline
