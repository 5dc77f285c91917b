// UTF-8. Log lines need not be valid UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace faultline {

// The length in bytes of the character at the start of a text that is not empty; 0: it is not
// well-formed.
std::size_t utf8_length(std::string_view text);

}  // namespace faultline
