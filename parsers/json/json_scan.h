// Walks over JSON whose structure matters only where something is looked for: nothing is decoded or
// kept, and what is skipped costs no more than looking at its bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "model/saved_bytes.h"

namespace faultline {

// Finds where an object or an array ends, while its bytes come in pieces. Brackets are counted, not
// compared: what is broken in that way ends somewhere else.
class NestedEnd {
 public:
  // Looks at the bytes behind those that were looked at before. The first ones begin with the
  // bracket. Returns how many of them belong to it; all of them, if it goes on.
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

// Where a text that begins behind `from` ends: at its quotation mark. npos: it goes on.
std::size_t end_of_json_text(std::string_view bytes, std::size_t from);

// Where the first character stands that is no blank, from there on; size(): there is none.
std::size_t behind_blanks(std::string_view bytes, std::size_t from);

// The value that begins there, as it stands. Nothing: it goes on, or is none.
std::optional<std::string_view> json_value_at(std::string_view bytes, std::size_t from);

// What stands between quotation marks; the value itself if it is no text.
std::string_view unquoted(std::string_view value);

// Calls member(key, value) for each member of a complete object, until it returns false. Of an
// object that is broken, for those before the break.
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
