// A mark as a text that a scheduler keeps with a node: "finding=f27 incident=i12 time=2026-…Z". It
// holds only ids and a time, never words of a log.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "guard/guard_policy.h"

namespace faultline {

std::string text_of_mark(const GuardMark& mark);
std::optional<GuardMark> mark_in(std::string_view text);

// Whether it may stand in a mark, a command or a URL: letters and digits.
bool is_plain_id(std::string_view text);

}  // namespace faultline
