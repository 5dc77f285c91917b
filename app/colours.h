// The text form of a diagnosis in colour, for a terminal.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "rules/answer/diagnosis.h"

namespace faultline {

// "auto": if the stream is a terminal that shows colours, and NO_COLOR is not set (no-color.org).
// "always" and "never" decide themselves.
bool wants_colours(std::string_view choice, std::FILE* stream);

// The verdict, the line of the culprit and the heading of the next step stand out.
std::string coloured(std::string_view text, const Diagnosis& diagnosis);

}  // namespace faultline
