// What a line of a rank means by the signatures, and what an exception quotes of NCCL.
#pragma once

#include <optional>

#include "rules/knowledge/signatures.h"
#include "rules/picture/view.h"

namespace faultline {

std::optional<SignatureMatch> meaning_of(const View& view, const TorchSaying& saying);

}  // namespace faultline
