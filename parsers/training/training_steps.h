// The steps of a training, from the lines that its framework prints among all other lines of the
// job: Megatron-LM, NeMo, DeepSpeed, the HF Trainer, Lightning, torchtitan, MaxText. The facts say
// how far the training came, how long a step takes, and in which phase it may be waiting.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_training_steps(std::string_view text);
std::unique_ptr<Document> make_training_steps();

}  // namespace faultline
