// Hand-written scanning from the front of a text. A function that takes something moves `rest`
// behind it; one that fails leaves `rest` where it was, unless it says otherwise.
#pragma once

#include <cstdint>
#include <string_view>

namespace faultline {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline bool is_name(char c) {
  return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.';
}

inline bool take(std::string_view& rest, std::string_view literal) {
  if (!rest.starts_with(literal)) return false;
  rest.remove_prefix(literal.size());
  return true;
}

inline bool take(std::string_view& rest, char character) {
  if (rest.empty() || rest.front() != character) return false;
  rest.remove_prefix(1);
  return true;
}

// The longest front part whose characters all satisfy the predicate; may be empty.
template <class Predicate>
std::string_view take_while(std::string_view& rest, Predicate predicate) {
  std::size_t size = 0;
  while (size < rest.size() && predicate(rest[size])) ++size;
  const std::string_view taken = rest.substr(0, size);
  rest.remove_prefix(size);
  return taken;
}

inline std::size_t take_blanks(std::string_view& rest) { return take_while(rest, is_blank).size(); }

// Up to the next blank.
inline std::string_view take_word(std::string_view& rest) {
  return take_while(rest, [](char c) { return !is_blank(c); });
}

// A decimal number of 1 to max_digits digits (18 at most, which always fits).
inline bool take_number(std::string_view& rest, std::int64_t& number, std::size_t max_digits = 18) {
  std::size_t size = 0;
  std::int64_t value = 0;
  while (size < rest.size() && is_digit(rest[size])) {
    if (size == max_digits) return false;
    value = value * 10 + (rest[size++] - '0');
  }
  if (size == 0) return false;
  rest.remove_prefix(size);
  number = value;
  return true;
}

}  // namespace faultline
