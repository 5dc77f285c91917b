#include "ingest/unpack/format.h"

#include <algorithm>

#include "ingest/unpack/tar_header.h"

namespace faultline::unpacking {
namespace {

enum class Match { no, so_far, yes };

Match match(std::string_view start, std::string_view magic) {
  const std::size_t size = std::min(start.size(), magic.size());
  if (start.substr(0, size) != magic.substr(0, size)) return Match::no;
  return size == magic.size() ? Match::yes : Match::so_far;
}

Match match_zstd(std::string_view start) {
  // A skippable frame may come first (pzstd writes one): its magic number's lowest four bits are
  // free.
  if ((static_cast<unsigned char>(start.front()) & 0xf0) == 0x50)
    return match(start.substr(1), "\x2a\x4d\x18");
  return match(start, "\x28\xb5\x2f\xfd");
}

Match match_tar(std::string_view start) {
  if (!could_be_tar_header(start)) return Match::no;
  if (start.size() < kTarBlock) return Match::so_far;
  return has_valid_checksum(start.substr(0, kTarBlock)) ? Match::yes : Match::no;
}

}  // namespace

std::optional<Format> format_of(std::string_view start) {
  if (start.empty()) return std::nullopt;
  const struct {
    Format format;
    Match match;
  } candidates[] = {
      {Format::gzip, match(start, "\x1f\x8b")},
      {Format::zstd, match_zstd(start)},
      {Format::tar, match_tar(start)},
  };
  bool undecided = false;
  for (const auto& candidate : candidates) {
    if (candidate.match == Match::yes) return candidate.format;
    undecided = undecided || candidate.match == Match::so_far;
  }
  if (undecided) return std::nullopt;
  return Format::plain;
}

}  // namespace faultline::unpacking
