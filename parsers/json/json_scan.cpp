#include "parsers/json/json_scan.h"

#include <bit>
#include <cstdint>
#include <cstring>

namespace faultline {
namespace {

constexpr std::uint64_t kOnes = 0x0101010101010101;
constexpr std::uint64_t kHighs = 0x8080808080808080;

// Sets the high bit of each byte that is this character. Only the lowest set bit is reliable.
constexpr std::uint64_t places_of(std::uint64_t eight, char c) {
  const std::uint64_t other = eight ^ (kOnes * static_cast<unsigned char>(c));
  return (other - kOnes) & ~other & kHighs;
}

std::uint64_t eight_at(const char* bytes) {
  std::uint64_t eight = 0;
  std::memcpy(&eight, bytes, 8);
  return eight;
}

constexpr bool kLittle = std::endian::native == std::endian::little;

// The next quotation mark or backslash.
std::size_t next_in_text(std::string_view bytes, std::size_t at) {
  if constexpr (kLittle)
    for (; at + 8 <= bytes.size(); at += 8) {
      const std::uint64_t eight = eight_at(bytes.data() + at);
      const std::uint64_t places = places_of(eight, '"') | places_of(eight, '\\');
      if (places != 0) return at + static_cast<std::size_t>(std::countr_zero(places)) / 8;
    }
  while (at < bytes.size() && bytes[at] != '"' && bytes[at] != '\\') ++at;
  return at;
}

// The next quotation mark or bracket. { and [ differ in one bit, as do } and ].
std::size_t next_outside(std::string_view bytes, std::size_t at) {
  constexpr std::uint64_t kFold = kOnes * 0x20;
  if constexpr (kLittle)
    for (; at + 8 <= bytes.size(); at += 8) {
      const std::uint64_t eight = eight_at(bytes.data() + at);
      const std::uint64_t folded = eight | kFold;
      const std::uint64_t places =
          places_of(eight, '"') | places_of(folded, '{') | places_of(folded, '}');
      if (places != 0) return at + static_cast<std::size_t>(std::countr_zero(places)) / 8;
    }
  while (at < bytes.size() && bytes[at] != '"' && (bytes[at] | 0x20) != '{' &&
         (bytes[at] | 0x20) != '}')
    ++at;
  return at;
}

}  // namespace

std::size_t NestedEnd::look_at(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size() && !complete_) {
    if (escaped_) {
      escaped_ = false;
      ++at;
      continue;
    }
    at = in_text_ ? next_in_text(bytes, at) : next_outside(bytes, at);
    if (at >= bytes.size()) break;
    const char c = bytes[at++];
    if (in_text_) {
      if (c == '\\')
        escaped_ = true;
      else
        in_text_ = false;
    } else if (c == '"') {
      in_text_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (--depth_ == 0) {
      complete_ = true;
    }
  }
  return at;
}

void NestedEnd::save(SavedBytesWriter& saved) const {
  saved.number(static_cast<std::int64_t>(depth_));
  saved.number((in_text_ ? 1 : 0) | (escaped_ ? 2 : 0) | (complete_ ? 4 : 0));
}

void NestedEnd::restore(SavedBytesReader& saved) {
  depth_ = static_cast<std::size_t>(saved.number());
  const std::int64_t flags = saved.number();
  in_text_ = (flags & 1) != 0;
  escaped_ = (flags & 2) != 0;
  complete_ = (flags & 4) != 0;
}

std::size_t end_of_json_text(std::string_view bytes, std::size_t from) {
  for (std::size_t at = next_in_text(bytes, from); at < bytes.size();
       at = next_in_text(bytes, at + 2))
    if (bytes[at] == '"') return at;
  return std::string_view::npos;
}

std::size_t behind_blanks(std::string_view bytes, std::size_t from) {
  while (from < bytes.size() &&
         (bytes[from] == ' ' || bytes[from] == '\n' || bytes[from] == '\t' || bytes[from] == '\r'))
    ++from;
  return from;
}

std::optional<std::string_view> json_value_at(std::string_view bytes, std::size_t from) {
  if (from >= bytes.size()) return std::nullopt;
  const std::string_view rest = bytes.substr(from);
  if (rest.front() == '"') {
    const std::size_t end = end_of_json_text(rest, 1);
    if (end == std::string_view::npos) return std::nullopt;
    return rest.substr(0, end + 1);
  }
  if (rest.front() == '{' || rest.front() == '[') {
    NestedEnd end;
    const std::size_t length = end.look_at(rest);
    if (!end.complete()) return std::nullopt;
    return rest.substr(0, length);
  }
  const std::size_t length = rest.find_first_of(",]} \t\r\n");
  if (length == std::string_view::npos || length == 0) return std::nullopt;
  return rest.substr(0, length);
}

std::string_view unquoted(std::string_view value) {
  const bool quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
  return quoted ? value.substr(1, value.size() - 2) : value;
}

}  // namespace faultline
