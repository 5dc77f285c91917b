// Pattern: a compiled regular expression whose captures are views into the text it was given.
//
// Use it only on lines that a literal search has picked out. Debian 12's RE2 does not know
// std::string_view; this class hides that.
#pragma once

#include <re2/re2.h>

#include <cstddef>
#include <string_view>

namespace faultline {

class Pattern {
 public:
  // Throws std::invalid_argument: an expression that does not compile is a bug in the program.
  explicit Pattern(std::string_view expression);

  // The leftmost match anywhere in text. A group that did not take part gives an empty view. A
  // number that does not fit its type is no match; the captures are then unspecified.
  template <class... Captures>
  bool find(std::string_view text, Captures*... captures) const {
    return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), regex_,
                             argument(captures)...);
  }

 private:
  static RE2::Arg argument(std::string_view* view) {
    return RE2::Arg(view, [](const char* data, std::size_t size, void* target) {
      *static_cast<std::string_view*>(target) = std::string_view(data, size);
      return true;
    });
  }
  template <class Number>
  static RE2::Arg argument(Number* number) {
    return RE2::Arg(number);
  }

  RE2 regex_;
};

}  // namespace faultline
