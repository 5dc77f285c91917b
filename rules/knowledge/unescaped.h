// A line as it was before a program wrote it into a string: escapes of JSON, Python and C are
// undone, colours of a terminal removed. Each byte remembers its place in the original line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace faultline {

class Unescaped {
 public:
  explicit Unescaped(std::string_view line) : text_(line) {}

  // Whether a line holds anything to undo.
  static bool changes(std::string_view line);

  // Undoes one level of escapes. False: there was none.
  bool take_back_one();

  std::string_view text() const { return text_; }

  struct Place {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  // Where the bytes of `part`, which is a part of text(), stood in the line.
  Place place_of(std::string_view part) const;

 private:
  std::string text_;
  std::vector<Place> places_;  // of each byte; empty: text_ is the line itself
};

}  // namespace faultline
