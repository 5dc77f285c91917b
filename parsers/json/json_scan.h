// Walks over JSON of which only some places matter: nothing is decoded or kept, and to skip text
// costs only a look at its bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "model/saved_bytes.h"

namespace faultline {

// Finds where an object or an array ends, while its bytes come in pieces. Brackets are counted, not
// matched: JSON with wrong brackets ends at a wrong place.
class NestedEnd {
 public:
  // Looks at the next bytes. Those of the first call begin with the opening bracket. Returns how
  // many of the bytes belong to the value; all of them if it goes on.
  std::size_t look_at(std::string_view bytes);

  bool complete() const { return complete_; }

  void save(SavedBytesWriter& saved) const;
  void restore(SavedBytesReader& saved);

 private:
  std::size_t depth_ = 0;
  bool in_text_ = false;
  bool escaped_ = false;
  bool complete_ = false;
};

// Where the string ends whose text begins at `from`: the closing quotation mark. npos: it goes on.
std::size_t end_of_json_text(std::string_view bytes, std::size_t from);

// The place of the first character at or after `from` that is not a blank; size(): there is none.
std::size_t behind_blanks(std::string_view bytes, std::size_t from);

// The value that begins at `from`, as written. Nothing: it is incomplete, or not a value.
std::optional<std::string_view> json_value_at(std::string_view bytes, std::size_t from);

// The text between the quotation marks; the value itself if it is not a string.
std::string_view unquoted(std::string_view value);

// Calls member(key, value) for each member of a complete object, until it returns false. In a
// broken object only the members before the break are visited.
template <class Member>
void for_each_member(std::string_view object, Member&& member) {
  std::size_t at = behind_blanks(object, 0);
  if (at >= object.size() || object[at] != '{') return;
  ++at;
  while (true) {
    at = behind_blanks(object, at);
    if (at < object.size() && object[at] == ',') at = behind_blanks(object, at + 1);
    if (at >= object.size() || object[at] != '"') return;
    const std::size_t end = end_of_json_text(object, at + 1);
    if (end == std::string_view::npos) return;
    const std::string_view key = object.substr(at + 1, end - at - 1);
    at = behind_blanks(object, end + 1);
    if (at >= object.size() || object[at] != ':') return;
    at = behind_blanks(object, at + 1);
    const auto value = json_value_at(object, at);
    if (!value) return;
    at += value->size();
    if (!member(key, *value)) return;
  }
}

}  // namespace faultline
