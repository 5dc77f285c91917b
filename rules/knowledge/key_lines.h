// The lines of a private key, each by itself or within a record of JSON.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "rules/knowledge/byte_set.h"

namespace faultline {

// Whether a key begins in this line and does not end in it.
bool opens_a_key(std::string_view line);

// Whether an open key may go on after a line that holds none of its letters: a blank line, or a
// line that another process printed.
bool may_be_between_lines(std::string_view line);

bool ends_a_key(std::string_view line);

// The parts of the line that are letters of a key. in_key: the line before left a key open; if not,
// the first line of the key was not seen.
std::vector<std::string_view> letters_of_a_key(std::string_view line, bool in_key);

inline constexpr ByteSet kLettersOfAKey(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=*");

// Quick test. False: the line holds no letters of a key whose first line was not seen.
inline bool may_be_of_a_key(std::string_view line) {
  constexpr std::size_t kLeast = 8;
  if (line.size() < kLeast) return false;
  const char last = line.back();
  if (last == '}' || last == '\r' || last == ' ') return true;
  for (const std::size_t before_end : {7, 8, 4, 1})
    if (!kLettersOfAKey.has(line[line.size() - before_end])) return false;
  return true;
}

}  // namespace faultline
