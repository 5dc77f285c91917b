// What scripts print about their steps, in their own words: "Epoch 3/16", "Train Epoch: 1
// [640/60000 (1%)] Loss: 2.3", "iter 1200: loss 2.34, time 140 ms", "Step 100 | loss 2.3".
#pragma once

#include <optional>
#include <string_view>

#include "parsers/training/training_line.h"

namespace faultline {

// The tool under which such steps are reported.
inline constexpr std::string_view kScriptTool = "script";

// A quick test. If it is false, read_script_step finds nothing.
bool begins_script_step(std::string_view text);

// A counter alone is not a training step ("Step 3/12 : RUN make"). The line must also have
// something that is measured in a step, or be only an epoch of a number of epochs.
std::optional<TrainingLine> read_script_step(std::string_view text, bool cut);

}  // namespace faultline
