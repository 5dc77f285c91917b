// Scanner: reads a text from left to right, piece by piece. For lines so simple or so many that a
// regular expression would be the longer way.
//
// A step that does not fit returns false and leaves the scanner where it was.
#pragma once

#include <charconv>
#include <concepts>
#include <string_view>

namespace faultline {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  std::string_view rest() const { return rest_; }

  bool skip(std::string_view literal) {
    if (!rest_.starts_with(literal)) return false;
    rest_.remove_prefix(literal.size());
    return true;
  }

  // Decimal digits and nothing else: no sign, no blank. False too when they do not fit.
  template <std::integral Number>
  bool number(Number& value) {
    if (rest_.empty() || rest_.front() < '0' || rest_.front() > '9') return false;
    Number parsed{};
    const auto [end, error] =
        std::from_chars(rest_.data(), rest_.data() + rest_.size(), parsed, 10);
    if (error != std::errc{}) return false;
    value = parsed;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return true;
  }

  // Up to the first of these characters, which stays; the whole rest if there is none.
  std::string_view until_any(std::string_view stops) {
    const std::string_view taken = rest_.substr(0, rest_.find_first_of(stops));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  // Up to the literal, and past it.
  bool until(std::string_view literal, std::string_view& taken) {
    const std::size_t at = rest_.find(literal);
    if (at == std::string_view::npos) return false;
    taken = rest_.substr(0, at);
    rest_.remove_prefix(at + literal.size());
    return true;
  }

 private:
  std::string_view rest_;
};

}  // namespace faultline
