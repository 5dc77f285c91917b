// Breaks text into lines of `width` columns. The first begins at `column`, the others after
// `indent`.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace faultline {

inline std::string wrapped(std::string_view text, std::size_t width, std::string_view indent = "",
                           std::size_t column = 0) {
  std::string out;
  const std::string line_end = "\n" + std::string(indent);
  bool begun = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    if (begun) {
      const bool fits = text[at - 1] != '\n' && column + 1 + (end - at) <= width;
      out += fits ? " " : line_end;
      column = fits ? column + 1 : indent.size();
    }
    out += text.substr(at, end - at);
    column += end - at;
    begun = true;
    at = end + 1;
  }
  return out;
}

}  // namespace faultline
