// Shared by the targets: how a promise is checked, and how an input is split.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace faultline {

// Aborts on a broken promise; libFuzzer keeps the input that ends the program.
inline void require(bool holds, std::string_view promise) {
  if (holds) return;
  std::fprintf(stderr, "broken: %.*s\n", static_cast<int>(promise.size()), promise.data());
  std::abort();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// An input that is read from its front: numbers first, then texts. After its end every value is 0
// or empty.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(text_of(data, size)) {}

  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto first = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return first;
  }

  // Reads up to the next byte that cannot occur in UTF-8.
  std::string_view text() {
    const std::string_view text = rest_.substr(0, rest_.find('\xff'));
    rest_.remove_prefix(text.size() + (text.size() < rest_.size() ? 1 : 0));
    return text;
  }

  std::string_view rest() const { return rest_; }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

// Control characters move a terminal's cursor, also those beyond ASCII in their UTF-8 form. Only
// the newlines of our own lines are allowed.
inline bool has_control_characters(std::string_view text, bool newlines_allowed) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\n' && newlines_allowed) continue;
    if (byte < 0x20 || byte == 0x7f) return true;
    if (byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0)
      return true;
  }
  return false;
}

}  // namespace faultline
