// Warnings that a terminal or a chat broke into lines.
#pragma once

#include <string_view>

#include "rules/knowledge/signatures.h"

namespace faultline {

// Whether no signature knows the beginning of a warning alone, and one knows this text of it, by
// more than a guess.
bool completes(const Signatures& signatures, const Remark& begun, std::string_view text);

}  // namespace faultline
