// The value of a setting in a line, however a program, a shell or a reader of settings writes it:
// name=value, "name": "value", name => 'value', ('name', 'value'), --name value.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "rules/knowledge/byte_set.h"

namespace faultline {

enum class ValueKind {
  any,       // but what says that there is none, or where it is: None, ${TOKEN}
  lettered,  // holds a letter
  mixed,     // letters and digits among each other, as nobody chooses them
  random,    // and letters of both sizes: no hash
};
std::optional<ValueKind> value_kind(std::string_view name);  // as secrets.yaml has it

struct ValueForm {
  ValueForm(std::string_view separators, std::size_t least, ValueKind kind, bool ends);

  ByteSet separators;  // one stands between the two
  std::size_t least = 1;
  ValueKind kind = ValueKind::any;
  bool ends = false;    // the literal by which the name was found ends it
  ByteSet behind_name;  // if so: what may follow it
  char only = 0;        // a character without which none follows
  ByteSet stops;        // where it is decided whether a value may follow
};

// Empty: what follows line[begin, end), the name, is no value of this form. is_cut: the line may
// go on.
std::string_view value_after(std::string_view line, std::size_t begin, std::size_t end,
                             const ValueForm& form, bool is_cut);

// Of what a pattern found: escapes that stand before a quote, and those of an end of line, are of
// the text around it.
std::string_view without_end_of_string(std::string_view secret);

// Whether one may follow the literal that ends at `end`, said quickly, of a line that may be
// escaped or coloured.
bool value_may_follow(std::string_view line, std::size_t end, const ValueForm& form);

// Said more quickly yet.
inline bool may_be_ended(std::string_view line, std::size_t end, const ValueForm& form) {
  if (!form.ends || end >= line.size()) return true;
  if (!form.behind_name.has(line[end])) return false;
  return line[end] != ' ' || form.separators.has(' ') || end + 1 >= line.size() ||
         form.behind_name.has(line[end + 1]);
}

}  // namespace faultline
