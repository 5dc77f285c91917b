// Scans a line from left to right, without allocation. The hot line (a call) is read with it.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

namespace faultline {

class Scan {
 public:
  explicit Scan(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool done() const { return at_ == end_; }
  std::string_view rest() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }
  char peek() const { return at_ == end_ ? '\0' : *at_; }

  template <std::size_t N>
  bool skip(const char (&literal)[N]) {
    constexpr std::size_t kSize = N - 1;
    if (static_cast<std::size_t>(end_ - at_) < kSize || !equal<kSize>(at_, literal)) return false;
    at_ += kSize;
    return true;
  }

  // Letters; may be none.
  std::string_view letters() {
    const char* start = at_;
    while (at_ != end_ && static_cast<unsigned char>((*at_ | 0x20) - 'a') < 26) ++at_;
    return {start, static_cast<std::size_t>(at_ - start)};
  }

  void skip_blanks() {
    while (at_ != end_ && *at_ == ' ') ++at_;
  }

  // Up to the next blank or the end; may be empty.
  std::string_view word() {
    const char* start = at_;
    at_ = find_blank(at_);
    return {start, static_cast<std::size_t>(at_ - start)};
  }

  // Up to the given character, which is consumed too. If it is absent: false, nothing consumed.
  bool until(char stop, std::string_view& piece) {
    const void* found = std::memchr(at_, stop, static_cast<std::size_t>(end_ - at_));
    if (found == nullptr) return false;
    const char* position = static_cast<const char*>(found);
    piece = {at_, static_cast<std::size_t>(position - at_)};
    at_ = position + 1;
    return true;
  }

  // At least one digit; false if there is none or the number does not fit.
  template <class Number>
  bool decimal(Number& value) {
    const char* start = at_;
    std::uint64_t sum = 0;
    while (at_ != end_ && static_cast<unsigned char>(*at_ - '0') < 10) {
      sum = sum * 10 + static_cast<std::uint64_t>(*at_ - '0');
      ++at_;
    }
    value = static_cast<Number>(sum);
    constexpr int kMostDigits = 19;  // more could overflow the sum
    return at_ != start && at_ - start <= kMostDigits &&
           sum <= static_cast<std::uint64_t>(std::numeric_limits<Number>::max());
  }

  // As decimal, with an optional minus sign.
  bool integer(int& value) {
    bool negative = at_ != end_ && *at_ == '-';
    if (negative) ++at_;
    if (!decimal(value)) return false;
    if (negative) value = -value;
    return true;
  }

  bool hex(std::uint64_t& value) {
    const char* start = at_;
    std::uint64_t sum = 0;
    for (; at_ != end_; ++at_) {
      unsigned digit = hex_digit(*at_);
      if (digit > 15) break;
      sum = sum << 4 | digit;
    }
    value = sum;
    return at_ != start && at_ - start <= 16;
  }

  // What printf's %p writes: 0x7f… or (nil).
  bool pointer(std::uint64_t& value) {
    value = 0;
    return skip("(nil)") || (skip("0x") && hex(value));
  }

 private:
  // Does what memcmp does; g++ makes a function call of that where a few comparisons suffice.
  template <std::size_t N>
  static bool equal(const char* a, const char* b) {
    if constexpr (N >= 8) return same<std::uint64_t>(a, b) && equal<N - 8>(a + 8, b + 8);
    if constexpr (N >= 4 && N < 8) return same<std::uint32_t>(a, b) && equal<N - 4>(a + 4, b + 4);
    if constexpr (N >= 2 && N < 4) return same<std::uint16_t>(a, b) && equal<N - 2>(a + 2, b + 2);
    if constexpr (N == 1) return *a == *b;
    return true;
  }
  template <class Word>
  static bool same(const char* a, const char* b) {
    Word left;
    Word right;
    std::memcpy(&left, a, sizeof left);
    std::memcpy(&right, b, sizeof right);
    return left == right;
  }

  static constexpr auto kHexDigits = [] {
    std::array<unsigned char, 256> digits{};
    digits.fill(16);
    for (unsigned char i = 0; i < 10; ++i) digits['0' + i] = i;
    for (unsigned char i = 0; i < 6; ++i) digits['a' + i] = digits['A' + i] = 10 + i;
    return digits;
  }();
  static unsigned hex_digit(char c) { return kHexDigits[static_cast<unsigned char>(c)]; }

  // Eight characters at a time, because most words here are pointers of 14 characters.
  const char* find_blank(const char* at) const {
    constexpr std::uint64_t kBlanks = 0x2020202020202020, kOnes = 0x0101010101010101,
                            kHighs = 0x8080808080808080;
    while (end_ - at >= 8) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, at, 8);
      std::uint64_t difference = eight ^ kBlanks;
      std::uint64_t zeros = (difference - kOnes) & ~difference & kHighs;
      if (zeros != 0) return at + __builtin_ctzll(zeros) / 8;
      at += 8;
    }
    while (at != end_ && *at != ' ') ++at;
    return at;
  }

  const char* at_;
  const char* end_;
};

}  // namespace faultline
