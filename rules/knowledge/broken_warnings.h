// Warnings that a terminal or a chat broke into lines.
#pragma once

#include <string_view>

#include "rules/knowledge/signatures.h"

namespace faultline {

// True if no signature matches the beginning of the warning alone, but one that is more than a
// guess matches this text.
bool completes(const Signatures& signatures, const Remark& begun, std::string_view text);

}  // namespace faultline
