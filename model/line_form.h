// The form of a line: lines that differ only in their numbers have the same.
#pragma once

#include <string>
#include <string_view>

namespace faultline {

// The beginning of the text, with "#" for each number, address or long hexadecimal word.
std::string form_of_line(std::string_view text);

}  // namespace faultline
