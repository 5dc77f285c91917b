// Numbers and texts in few bytes: the form of stored batches and of the folded result of calls.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

namespace faultline {

// Small numbers of either sign become small numbers without one.
constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

class ByteWriter {
 public:
  void byte(std::uint8_t value) { bytes_.push_back(static_cast<char>(value)); }

  // Seven bits a byte, lowest first.
  void number(std::uint64_t value) {
    while (value >= 0x80) {
      byte(static_cast<std::uint8_t>(value | 0x80));
      value >>= 7;
    }
    byte(static_cast<std::uint8_t>(value));
  }
  void signed_number(std::int64_t value) { number(zigzag(value)); }

  void text(std::string_view value) {
    number(value.size());
    bytes_.append(value);
  }

  std::string_view view() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Thrown if bytes are not what a ByteWriter wrote. The code that reads catches it: its callers see
// a Result.
struct BadBytes : std::runtime_error {
  using runtime_error::runtime_error;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  std::uint8_t byte() {
    if (rest_.empty()) throw BadBytes("breaks off");
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint8_t part = byte();
      value |= static_cast<std::uint64_t>(part & 0x7f) << shift;
      if (part < 0x80) return value;
    }
    throw BadBytes("has a number that does not end");
  }
  std::int64_t signed_number() { return unzigzag(number()); }

  // A number that fits a narrower type.
  template <class Integer>
  Integer small() {
    const std::uint64_t value = number();
    if (value > static_cast<std::uint64_t>(std::numeric_limits<Integer>::max()))
      throw BadBytes("has a number that is too large");
    return static_cast<Integer>(value);
  }
  int signed_int() {
    const std::int64_t value = signed_number();
    if (value != static_cast<int>(value)) throw BadBytes("has a number that is too large");
    return static_cast<int>(value);
  }

  // How many things follow, each of which takes at least `least` bytes: no count can make the
  // reader reserve more than there is.
  std::size_t count(std::size_t least) {
    const std::uint64_t value = number();
    if (value > rest_.size() / least) throw BadBytes("announces more than it has");
    return static_cast<std::size_t>(value);
  }

  std::string_view text() {
    const std::size_t size = count(1);
    const std::string_view value = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return value;
  }

  bool at_end() const { return rest_.empty(); }
  std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
};

}  // namespace faultline
