// A mark as a text that a scheduler keeps with a node: "finding=f27 incident=i12 time=2026-…Z". A
// memory is several of them: "finding=…; finding=…; settled=2026-…Z". They hold only ids and times,
// never words of a log.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "guard/guard_policy.h"

namespace faultline {

std::string text_of_mark(const GuardMark& mark);
std::optional<GuardMark> mark_in(std::string_view text);

std::string text_of_memory(const GuardMemory& memory);
// Nothing if any of it cannot be read.
std::optional<GuardMemory> memory_in(std::string_view text);

// Only the last ones are kept.
void add_mark(GuardMemory& memory, const GuardMark& mark);
// What was found until `now` takes the node no more.
void settle(GuardMemory& memory, Timestamp now);

// Whether it may stand in a mark, a command or a URL: letters and digits.
bool is_plain_id(std::string_view text);

}  // namespace faultline
