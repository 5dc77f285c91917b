// The value of a setting in a line, however a program, a shell or a reader of settings writes it:
// name=value, "name": "value", name => 'value', ('name', 'value'), --name value.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "rules/knowledge/byte_set.h"

namespace faultline {

enum class ValueKind {
  any,       // except a word for no value, or a reference to one: None, ${TOKEN}
  lettered,  // holds a letter
  mixed,     // letters and digits mixed, as in a generated value
  random,    // mixed, with small and capital letters: not a hash
};
std::optional<ValueKind> value_kind(std::string_view name);  // as secrets.yaml has it

struct ValueForm {
  ValueForm(std::string_view separators, std::size_t least, ValueKind kind, bool ends);

  ByteSet separators;  // one of these stands between name and value
  std::size_t least = 1;
  ValueKind kind = ValueKind::any;
  bool ends = false;    // the literal that was found is the end of the name
  ByteSet behind_name;  // if `ends`: what may follow the name
  char only = 0;        // no value follows without this character; 0: any
  ByteSet stops;        // bytes that decide whether a value may follow
};

// The value that follows the name, line[begin, end). Empty: no value of this form follows. is_cut:
// the line may go on.
std::string_view value_after(std::string_view line, std::size_t begin, std::size_t end,
                             const ValueForm& form, bool is_cut);

// Cuts a secret that a pattern found where the string around it ends: before an escaped quote, an
// escaped end of line, or a colour.
std::string_view without_end_of_string(std::string_view secret);

// Quick test, also of an escaped or coloured line. False: no value follows the literal that ends at
// `end`.
bool value_may_follow(std::string_view line, std::size_t end, const ValueForm& form);

// An even quicker test, by the next two bytes.
inline bool may_be_ended(std::string_view line, std::size_t end, const ValueForm& form) {
  if (!form.ends || end >= line.size()) return true;
  if (!form.behind_name.has(line[end])) return false;
  return line[end] != ' ' || form.separators.has(' ') || end + 1 >= line.size() ||
         form.behind_name.has(line[end + 1]);
}

}  // namespace faultline
