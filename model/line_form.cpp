#include "model/line_form.h"

#include <algorithm>
#include <cctype>

namespace faultline {
namespace {

constexpr std::size_t kMostFormBytes = 160;

bool is_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

bool is_number(std::string_view word) {
  constexpr std::size_t kShortestHex = 8;
  const bool has_digit = std::ranges::any_of(word, [](char c) { return c >= '0' && c <= '9'; });
  return has_digit &&
         (word.starts_with("0x") || std::ranges::all_of(word, [](char c) { return c <= '9'; }) ||
          (word.size() >= kShortestHex && std::ranges::all_of(word, [](char c) {
             return std::isxdigit(static_cast<unsigned char>(c)) != 0;
           })));
}

}  // namespace

std::string form_of_line(std::string_view text) {
  std::string form;
  for (std::size_t at = 0; at < text.size() && form.size() < kMostFormBytes;) {
    std::size_t end = at;
    while (end < text.size() && is_alnum(text[end])) ++end;
    if (end == at) {
      form += text[at++];
      continue;
    }
    const std::string_view word = text.substr(at, end - at);
    form += is_number(word) ? std::string_view("#") : word;
    at = end;
  }
  return form;
}

}  // namespace faultline
