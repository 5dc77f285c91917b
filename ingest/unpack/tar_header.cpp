#include "ingest/unpack/tar_header.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace faultline::unpacking {
namespace {

struct Field {
  std::size_t at;
  std::size_t size;
  std::string_view of(std::string_view block) const {
    return at < block.size() ? block.substr(at, size) : std::string_view();
  }
};

constexpr Field kName{0, 100};
constexpr Field kMode{100, 8};
constexpr Field kUid{108, 8};
constexpr Field kGid{116, 8};
constexpr Field kSize{124, 12};
constexpr Field kMtime{136, 12};
constexpr Field kChecksum{148, 8};
constexpr Field kType{156, 1};
constexpr Field kMagic{257, 6};
constexpr Field kPrefix{345, 155};
constexpr std::size_t kIsExtended = 482;     // in a header of GNU's old sparse format
constexpr std::size_t kMapIsExtended = 504;  // in the blocks that continue its map

constexpr std::string_view kUstar("ustar\0", 6);
constexpr std::string_view kGnu("ustar ", 6);

std::string_view until_nul(std::string_view field) { return field.substr(0, field.find('\0')); }

// A number too large for octal digits is binary and begins with this bit.
bool is_binary(std::string_view field) {
  return !field.empty() && (static_cast<unsigned char>(field.front()) & 0x80) != 0;
}

bool looks_octal(std::string_view field) {
  return std::all_of(field.begin(), field.end(),
                     [](char c) { return (c >= '0' && c <= '7') || c == ' ' || c == '\0'; });
}

bool looks_like_number(std::string_view field) { return is_binary(field) || looks_octal(field); }

std::optional<std::uint64_t> parse_octal(std::string_view field) {
  const std::size_t first = field.find_first_not_of(' ');
  if (first == std::string_view::npos) return 0;
  field = field.substr(first);
  field = field.substr(0, field.find_first_of(std::string_view(" \0", 2)));
  if (field.empty()) return 0;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value, 8);
  if (error != std::errc() || end != field.data() + field.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_binary(std::string_view field) {
  std::uint64_t value = static_cast<unsigned char>(field.front()) & 0x7f;
  for (const char c : field.substr(1)) {
    // Also the end of a negative number, whose first bits are all set.
    if (value > (std::numeric_limits<std::uint64_t>::max() >> 8)) return std::nullopt;
    value = value << 8 | static_cast<unsigned char>(c);
  }
  return value;
}

std::optional<std::uint64_t> parse_number(std::string_view field) {
  return is_binary(field) ? parse_binary(field) : parse_octal(field);
}

std::optional<std::uint64_t> parse_decimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

bool could_be_tar_header(std::string_view start) {
  if (start.starts_with('\0')) return false;
  if (until_nul(kName.of(start)).find('\n') != std::string_view::npos) return false;
  for (const Field& field : {kMode, kUid, kGid, kSize, kMtime})
    if (!looks_like_number(field.of(start))) return false;
  if (!looks_octal(kChecksum.of(start))) return false;
  const std::string_view magic = kMagic.of(start);
  return kUstar.starts_with(magic) || kGnu.starts_with(magic);
}

bool has_valid_checksum(std::string_view block) {
  const std::optional<std::uint64_t> expected = parse_octal(kChecksum.of(block));
  if (!expected) return false;
  // The field itself counts as blanks. Some old programs added signed bytes.
  std::uint64_t sum = kChecksum.size * ' ';
  std::int64_t signed_sum = static_cast<std::int64_t>(sum);
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (i >= kChecksum.at && i < kChecksum.at + kChecksum.size) continue;
    sum += static_cast<unsigned char>(block[i]);
    signed_sum += static_cast<signed char>(block[i]);
  }
  return *expected == sum || static_cast<std::int64_t>(*expected) == signed_sum;
}

bool is_zero(std::string_view block) {
  return block.find_first_not_of('\0') == std::string_view::npos;
}

std::optional<TarHeader> parse_tar_header(std::string_view block) {
  if (!has_valid_checksum(block)) return std::nullopt;
  const std::optional<std::uint64_t> size = parse_number(kSize.of(block));
  if (!size) return std::nullopt;

  TarHeader header;
  header.name = until_nul(kName.of(block));
  header.size = *size;
  header.type = kType.of(block).front() == '\0' ? '0' : kType.of(block).front();
  // GNU keeps other things where ustar has the first part of a long name.
  const std::string_view prefix = until_nul(kPrefix.of(block));
  if (kMagic.of(block) == kUstar && !prefix.empty())
    header.name = std::string(prefix) + '/' + header.name;
  header.extended_sparse = header.type == 'S' && block[kIsExtended] != '\0';
  return header;
}

bool sparse_map_continues(std::string_view block) { return block[kMapIsExtended] != '\0'; }

std::optional<PaxRecords> parse_pax(std::string_view records) {
  PaxRecords found;
  while (!records.empty()) {
    const std::size_t blank = records.find(' ');
    if (blank == std::string_view::npos) return std::nullopt;
    const std::optional<std::uint64_t> length = parse_decimal(records.substr(0, blank));
    // The length counts itself, the blank and the newline.
    if (!length || *length < blank + 2 || *length > records.size()) return std::nullopt;
    if (records[*length - 1] != '\n') return std::nullopt;
    const std::string_view record = records.substr(blank + 1, *length - blank - 2);
    records.remove_prefix(*length);

    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view key = record.substr(0, equals);
    const std::string_view value = record.substr(equals + 1);
    if (key == "path") found.path = std::string(value);
    if (key.starts_with("GNU.sparse.")) found.sparse = true;
    if (key == "size") {
      found.size = parse_decimal(value);
      if (!found.size) return std::nullopt;
    }
  }
  return found;
}

}  // namespace faultline::unpacking
