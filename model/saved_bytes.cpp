#include "model/saved_bytes.h"

#include <algorithm>
#include <limits>

namespace faultline {

void SavedBytesWriter::number(std::int64_t value) {
  // Seven bits a byte, the sign in the lowest, so that small numbers are short.
  auto bits = (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
  for (; bits >= 0x80; bits >>= 7) bytes_ += static_cast<char>(0x80 | (bits & 0x7f));
  bytes_ += static_cast<char>(bits);
}

void SavedBytesWriter::text(std::string_view value) {
  number(static_cast<std::int64_t>(value.size()));
  bytes_ += value;
}

void SavedBytesReader::fail() {
  ok_ = false;
  rest_ = {};
}

std::int64_t SavedBytesReader::number() {
  std::uint64_t bits = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) break;
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    bits |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80)
      return static_cast<std::int64_t>(bits >> 1) ^ -static_cast<std::int64_t>(bits & 1);
  }
  fail();
  return 0;
}

int SavedBytesReader::small_number() {
  return static_cast<int>(std::clamp<std::int64_t>(number(), std::numeric_limits<int>::min(),
                                                   std::numeric_limits<int>::max()));
}

std::string_view SavedBytesReader::text() {
  const std::int64_t size = number();
  if (size < 0 || static_cast<std::uint64_t>(size) > rest_.size()) fail();
  if (!ok_) return {};
  const std::string_view value = rest_.substr(0, static_cast<std::size_t>(size));
  rest_.remove_prefix(value.size());
  return value;
}

}  // namespace faultline
