// The steps of a training, by the lines that its framework prints of them among all other lines of
// the job: Megatron-LM, NeMo, DeepSpeed, the HF Trainer, Lightning, torchtitan, MaxText. What is
// told of them is how far they came, how long each takes, and what they may be waiting in.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_training_steps(std::string_view text);
std::unique_ptr<Document> make_training_steps();

}  // namespace faultline
