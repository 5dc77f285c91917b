// A set of bytes.
#pragma once

#include <array>
#include <string_view>

namespace faultline {

class ByteSet {
 public:
  constexpr explicit ByteSet(std::string_view bytes = {}) {
    for (const char c : bytes) add(c);
  }
  constexpr void add(char c) { has_[static_cast<unsigned char>(c)] = true; }
  constexpr bool has(char c) const { return has_[static_cast<unsigned char>(c)]; }

 private:
  std::array<bool, 256> has_{};
};

inline constexpr ByteSet kBlankBytes("\t\n\f\r ");  // \s of RE2

}  // namespace faultline
