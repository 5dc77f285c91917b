// Text as UTF-8, which lines of logs need not be.
#pragma once

#include <cstddef>
#include <string_view>

namespace faultline {

// How many bytes the well-formed character at the start of text has, which is not empty; 0: it is
// none.
std::size_t utf8_length(std::string_view text);

}  // namespace faultline
