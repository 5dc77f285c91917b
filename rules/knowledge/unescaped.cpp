#include "rules/knowledge/unescaped.h"

#include <algorithm>
#include <utility>

namespace faultline {
namespace {

constexpr char kEscapeByte = '\x1b';

struct EscapedLetter {
  char letter = 0;
  std::size_t length = 1;  // of the escape
};

int digit_of(char c, int base) {
  const int value = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : base;
  return value < base ? value : -1;
}

// Reads the code of a letter, of so many digits, at `at`. Which letter outside of ASCII it is does
// not matter.
bool take_code(std::string_view text, std::size_t at, std::size_t digits, int base, char& letter) {
  if (at + digits > text.size()) return false;
  unsigned code = 0;
  for (std::size_t i = at; i < at + digits; ++i) {
    const int digit = digit_of(text[i], base);
    if (digit < 0) return false;
    code = code * static_cast<unsigned>(base) + static_cast<unsigned>(digit);
  }
  letter = static_cast<char>(std::min(code, 0xffU));
  return true;
}

// The letter that the escape at `at` stands for. Length 1: the backslash stands for itself.
EscapedLetter letter_at(std::string_view text, std::size_t at) {
  constexpr std::string_view kWritten = "\"'/\\nrtbfvae";
  constexpr std::string_view kMeant = "\"'/\\\n\r\t\b\f\v\a\x1b";
  if (at + 1 >= text.size()) return {.letter = text[at]};
  const char next = text[at + 1];
  if (const std::size_t which = kWritten.find(next); which != kWritten.npos)
    return {.letter = kMeant[which], .length = 2};
  EscapedLetter letter{.letter = text[at]};
  if (next == 'u' && take_code(text, at + 2, 4, 16, letter.letter)) letter.length = 6;
  if (next == 'x' && take_code(text, at + 2, 2, 16, letter.letter)) letter.length = 4;
  if (next == '0' && take_code(text, at + 1, 3, 8, letter.letter)) letter.length = 4;
  return letter;
}

// The end of a terminal's command: `at` is after "ESC ["; numbers and a last letter follow.
std::size_t end_of_command(std::string_view text, std::size_t at) {
  const auto is_of_numbers = [](char c) { return (c >= '0' && c <= ';') || c == '?'; };
  while (at < text.size() && is_of_numbers(text[at])) ++at;
  return at < text.size() && text[at] >= '@' && text[at] <= '~' && text[at] != '\\' ? at + 1 : at;
}

}  // namespace

bool Unescaped::changes(std::string_view line) {
  return line.find('\\') != line.npos || line.find(kEscapeByte) != line.npos;
}

bool Unescaped::take_back_one() {
  std::string text;
  std::vector<Place> places;
  text.reserve(text_.size());
  places.reserve(text_.size());
  for (std::size_t at = 0; at < text_.size();) {
    const EscapedLetter letter =
        text_[at] == '\\' ? letter_at(text_, at) : EscapedLetter{.letter = text_[at]};
    const std::size_t end = at + letter.length;
    if (letter.letter == kEscapeByte && end < text_.size() && text_[end] == '[') {
      at = end_of_command(text_, end + 1);
      continue;
    }
    text += letter.letter;
    places.push_back(places_.empty() ? Place{at, end}
                                     : Place{places_[at].begin, places_[end - 1].end});
    at = end;
  }
  if (text.size() == text_.size()) return false;
  text_ = std::move(text);
  places_ = std::move(places);
  return true;
}

Unescaped::Place Unescaped::place_of(std::string_view part) const {
  const auto begin = static_cast<std::size_t>(part.data() - text_.data());
  const std::size_t end = begin + part.size();
  if (places_.empty() || part.empty()) return {begin, end};
  return {places_[begin].begin, places_[end - 1].end};
}

}  // namespace faultline
