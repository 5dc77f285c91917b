#include "rules/answer/shown_text.h"

#include <algorithm>

#include "model/handover.h"
#include "model/utf8.h"

namespace faultline {
namespace {

constexpr std::string_view kNoCharacter = "\xef\xbf\xbd";  // U+FFFD

// Terminals obey the control characters U+0080 to U+009F as well as those of ASCII.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
}

}  // namespace

std::string shown(std::string_view text, std::size_t most_bytes) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = utf8_length(text.substr(at));
    const std::size_t next = at + std::max<std::size_t>(length, 1);
    if (next > most_bytes) break;  // not in the middle of a character
    const std::string_view character = text.substr(at, next - at);
    if (length == 0)
      out += kNoCharacter;
    else if (is_control(character))
      out += ' ';
    else
      out += character;
    at = next;
  }
  if (at < text.size()) out += "…";
  return out;
}

std::string shown_words(std::string_view text, std::size_t most_bytes) {
  return shown(cut_at_word(std::string(text), most_bytes), most_bytes);
}

std::string shown_in_html(std::string_view text, std::size_t most_bytes) {
  std::string out;
  for (const char c : shown(text, most_bytes)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string shown_in_markdown(std::string_view text, std::size_t most_bytes) {
  constexpr std::string_view kMarkup = "\\`*_[]<>|#";
  std::string out;
  for (const char c : shown(text, most_bytes)) {
    if (kMarkup.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace faultline
