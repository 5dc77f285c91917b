// What lines that differ by their numbers only have in common.
#pragma once

#include <string>
#include <string_view>

namespace faultline {

// The text, as far as it matters, with one mark for each number, address or long hexadecimal word.
std::string form_of_line(std::string_view text);

}  // namespace faultline
