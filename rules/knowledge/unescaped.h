// A line as it read before a program wrote it into a string of another: escapes of JSON, Python
// and C taken back, colours of a terminal left out. Each of its bytes knows where it stood.
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

  // Whether a line holds anything that would be taken back.
  static bool changes(std::string_view line);

  // Takes back one level of escapes. False: there was none.
  bool take_back_one();

  std::string_view text() const { return text_; }

  struct Place {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  // Where in the line the bytes stood that are part of text().
  Place place_of(std::string_view part) const;

 private:
  std::string text_;
  std::vector<Place> places_;  // of each byte; empty: where they are
};

}  // namespace faultline
