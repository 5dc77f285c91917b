#include "ingest/unpack/zip_header.h"

#include <algorithm>
#include <array>

namespace faultline::unpacking {
namespace {

std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size; ++i)
    number |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return number;
}

// Sizes that do not fit, and only these, stand in an extra field.
void read_long_sizes(std::string_view extra, ZipHeader& header) {
  constexpr std::uint64_t kElsewhere = 0xffffffff;
  while (extra.size() >= 4) {
    const std::uint64_t id = number_at(extra, 0, 2);
    const std::size_t size = std::min<std::size_t>(number_at(extra, 2, 2), extra.size() - 4);
    std::string_view field = extra.substr(4, size);
    extra.remove_prefix(4 + size);
    if (id != 1) continue;
    for (std::uint64_t* said : {&header.size, &header.packed}) {
      if (*said != kElsewhere || field.size() < 8) continue;
      *said = number_at(field, 0, 8);
      field.remove_prefix(8);
    }
  }
}

}  // namespace

bool begins_zip_directory(std::string_view signature) {
  constexpr std::array<std::string_view, 5> kSignatures{"PK\1\2", "PK\5\5", "PK\5\6", "PK\6\6",
                                                        "PK\6\10"};
  return std::ranges::find(kSignatures, signature.substr(0, kZipSignature)) != kSignatures.end();
}

std::size_t zip_header_size(std::string_view fixed) {
  return kZipHeader + number_at(fixed, 26, 2) + number_at(fixed, 28, 2);
}

ZipHeader parse_zip_header(std::string_view header) {
  ZipHeader parsed;
  const std::uint64_t flags = number_at(header, 6, 2);
  parsed.encrypted = (flags & 1) != 0;
  parsed.described = (flags & 8) != 0;
  parsed.method = static_cast<std::uint16_t>(number_at(header, 8, 2));
  parsed.crc = static_cast<std::uint32_t>(number_at(header, 14, 4));
  parsed.packed = number_at(header, 18, 4);
  parsed.size = number_at(header, 22, 4);
  const std::size_t name = number_at(header, 26, 2);
  parsed.name = header.substr(kZipHeader, name);
  read_long_sizes(header.substr(kZipHeader + name), parsed);
  return parsed;
}

std::optional<ZipDescriptor> parse_zip_descriptor(std::string_view bytes,
                                                  const ZipMeasure& measure) {
  for (const std::size_t signature : {kZipSignature, std::size_t{0}}) {
    if (signature > 0 && !bytes.starts_with(kZipDescriptor)) continue;
    for (const std::size_t width : {std::size_t{4}, std::size_t{8}}) {
      const std::size_t end = signature + 4 + 2 * width;
      if (bytes.size() < end + 2) continue;
      const std::uint64_t mask = width == 4 ? 0xffffffff : ~std::uint64_t{0};
      if (number_at(bytes, signature + 4, width) != (measure.packed & mask)) continue;
      if (measure.size && number_at(bytes, signature + 4 + width, width) != (*measure.size & mask))
        continue;
      if (bytes.substr(end, 2) != "PK") continue;  // the archive must go on behind it
      return ZipDescriptor{end, static_cast<std::uint32_t>(number_at(bytes, signature, 4))};
    }
  }
  return std::nullopt;
}

}  // namespace faultline::unpacking
