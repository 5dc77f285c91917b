#include "rules/answer/shown_text.h"

#include "model/handover.h"

namespace faultline {

std::string shown(std::string_view text, std::size_t most_bytes) {
  std::string out;
  for (char c : text.substr(0, most_bytes)) {
    const auto byte = static_cast<unsigned char>(c);
    out.push_back(byte < 0x20 || byte == 0x7f ? ' ' : c);
  }
  // Do not end in the middle of a character.
  if (text.size() > most_bytes) {
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80) out.pop_back();
    if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xc0) out.pop_back();
    out += "…";
  }
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
