#include "parsers/nccl/nccl_bare.h"

#include <algorithm>

#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

constexpr auto kNowhere = std::string_view::npos;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_small(char c) { return c >= 'a' && c <= 'z'; }
bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
bool is_name_character(char c) { return is_small(c) || is_capital(c) || is_digit(c) || c == '_'; }

// ncclSocketInit, socket_progress: not a word of plain English.
bool is_function(std::string_view word) {
  return !word.empty() && is_small(word.front()) && std::ranges::all_of(word, is_name_character) &&
         std::ranges::any_of(word, [](char c) { return is_capital(c) || c == '_'; });
}

bool is_source_file(std::string_view word) {
  for (const std::string_view ending : {".cc", ".cpp", ".cu", ".c", ".h"})
    if (word.ends_with(ending)) return word.size() > ending.size() && word.front() != '"';
  return false;
}

// socket.cc:484, bootstrapNetInit:203, with or without a colon after it
bool is_place(std::string_view word) {
  while (word.ends_with(':')) word.remove_suffix(1);
  const std::size_t colon = word.rfind(':');
  if (colon == kNowhere || colon + 1 == word.size()) return false;
  return std::ranges::all_of(word.substr(colon + 1), is_digit) &&
         (is_source_file(word.substr(0, colon)) || is_function(word.substr(0, colon)));
}

// A word that NCCL puts before a message: "socketProgress:", "NET/IB", ":".
bool is_of_nccl(std::string_view word) {
  for (const std::string_view part : {":", "Net", "Bootstrap", "Bootstrap:"})
    if (word == part) return true;
  if (word.starts_with("NET/")) return true;
  return word.ends_with(':') && is_function(word.substr(0, word.size() - 1));
}

}  // namespace

BareWarning bare_warning(std::string_view text) {
  BareWarning bare;
  text.remove_prefix(std::min(text.find_first_not_of("> \t"), text.size()));  // quoted in a mail
  text = tool_text::trimmed(text);
  const std::size_t blank = text.find(' ');
  if (blank != kNowhere && is_place(text.substr(0, blank))) {
    bare.place = text.substr(0, blank);
    while (bare.place.ends_with(':')) bare.place.remove_suffix(1);
    text = tool_text::trimmed(text.substr(blank));
  }
  bare.text = text;
  return bare;
}

bool may_stand_before_warning(std::string_view text) {
  for (text = tool_text::trimmed(text); !text.empty();) {
    const std::size_t size = std::min(text.find(' '), text.size());
    if (!is_of_nccl(text.substr(0, size))) return false;
    text = tool_text::trimmed(text.substr(size));
  }
  return true;
}

}  // namespace faultline
