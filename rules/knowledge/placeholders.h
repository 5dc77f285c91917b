// Texts of the catalog with places for names: "Port {device} of {host} went down".
#pragma once

#include <string_view>

namespace faultline {

// Calls on_text for each text between placeholders and on_name for the name of each placeholder.
template <class OnText, class OnName>
void take_apart(std::string_view text, OnText on_text, OnName on_name) {
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    const std::size_t close = text.find('}', open);
    if (close == std::string_view::npos) break;
    on_text(text.substr(0, open));
    on_name(text.substr(open + 1, close - open - 1));
    text.remove_prefix(close + 1);
  }
  on_text(text);
}

}  // namespace faultline
