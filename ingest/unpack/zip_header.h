// The headers before and behind the members of a zip archive (PKWARE's APPNOTE.TXT), as far as they
// can be read while the archive comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace faultline::unpacking {

inline constexpr std::size_t kZipSignature = 4;
inline constexpr std::size_t kZipHeader = 30;  // without its name and what follows that

// With a signature and long sizes, and the beginning of the next signature.
inline constexpr std::size_t kLongestZipDescriptor = 26;

inline constexpr std::string_view kZipMember = "PK\3\4";
inline constexpr std::string_view kZipDescriptor = "PK\7\10";

// Behind the last member: the directory and what it ends with. Nothing in it is needed.
bool begins_zip_directory(std::string_view signature);

struct ZipHeader {
  std::string_view name;
  std::uint16_t method = 0;
  bool encrypted = false;
  bool described = false;  // a descriptor follows the data; sizes of 0 are not known yet
  std::uint32_t crc = 0;
  std::uint64_t packed = 0;
  std::uint64_t size = 0;
};

// The length of the whole header, from its fixed part.
std::size_t zip_header_size(std::string_view fixed);

ZipHeader parse_zip_header(std::string_view header);

// What was counted of a member that has ended.
struct ZipMeasure {
  std::uint64_t packed = 0;
  std::optional<std::uint64_t> size;  // nullopt: passed over unread
};

struct ZipDescriptor {
  std::size_t length = 0;
  std::uint32_t crc = 0;
};

// The descriptor at the beginning of kLongestZipDescriptor bytes. It may have a signature or none,
// and short or long sizes: its form is the one whose sizes match `measure`.
std::optional<ZipDescriptor> parse_zip_descriptor(std::string_view bytes,
                                                  const ZipMeasure& measure);

}  // namespace faultline::unpacking
