#include "rules/knowledge/catalog_words.h"

#include <algorithm>
#include <stdexcept>

#include "model/utf8.h"

namespace faultline {

void CatalogPlace::refuse(std::string_view why) const {
  throw std::runtime_error(fmt::format("{}:{}: {}", file, line, in_one_line(why)));
}

std::string in_one_line(std::string_view text) {
  constexpr std::size_t kMostBytes = 1024;
  std::string line;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = std::max<std::size_t>(utf8_length(text.substr(at)), 1);
    if (at + length > kMostBytes) break;
    const auto first = static_cast<unsigned char>(text[at]);
    const bool control = length == 1
                             ? first < 0x20 || first >= 0x7f
                             : first == 0xc2 && static_cast<unsigned char>(text[at + 1]) < 0xa0;
    line += control ? " " : text.substr(at, length);
    at += length;
  }
  if (at < text.size()) line += "…";
  return line;
}

std::string any_of(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 < words.size() ? ", " : " or ";
    text += words[i];
  }
  return text;
}

void require_word(const CatalogPlace& place, std::string_view what, std::string_view word,
                  std::span<const std::string_view> words) {
  if (std::ranges::find(words, word) != words.end()) return;
  place.refuse(fmt::format("{} \"{}\" is unknown; use {}", what, word, any_of(words)));
}

Cause require_class(const CatalogPlace& place, std::string_view name) {
  if (const Cause cause = cause_named(name); cause != Cause::none) return cause;
  // All classes would be too much to read: list those of the family, or else the families.
  const auto family_in = [](std::string_view text) { return text.substr(0, text.find('.')); };
  std::vector<std::string_view> relatives;
  std::vector<std::string_view> families;
  for (const CauseClass& known : cause_classes()) {
    const std::string_view family = family_in(known.name);
    if (family == family_in(name)) relatives.push_back(known.name);
    if (std::ranges::find(families, family) == families.end()) families.push_back(family);
  }
  if (relatives.empty())
    place.refuse(fmt::format("class \"{}\" is unknown; begin with {}", name, any_of(families)));
  place.refuse(fmt::format("class \"{}\" is unknown; use {}", name, any_of(relatives)));
}

}  // namespace faultline
