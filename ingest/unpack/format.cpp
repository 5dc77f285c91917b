#include "ingest/unpack/format.h"

#include <algorithm>

#include "ingest/hints.h"
#include "ingest/unpack/json_stage.h"
#include "ingest/unpack/tar_header.h"
#include "ingest/unpack/zip_header.h"

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

Match match_bzip2(std::string_view start) {
  if (const Match begun = match(start, "BZh"); begun != Match::yes || start.size() == 3)
    return begun == Match::yes ? Match::so_far : begun;
  if (start[3] < '1' || start[3] > '9') return Match::no;
  start.remove_prefix(4);
  const Match block = match(start, "1AY&SY");
  return block == Match::no ? match(start, "\x17rE8P\x90") : block;  // or only the end mark
}

Match either(Match one, Match other) {
  if (one == Match::yes || other == Match::yes) return Match::yes;
  return one == Match::no ? other : one;
}

// Text of wide characters: a byte order mark, or ASCII with zeros between.
Match match_wide(std::string_view start, std::size_t width, bool big, std::string_view mark) {
  constexpr std::size_t kCharacters = 4;
  if (match(start, mark) == Match::yes) return Match::yes;
  if (start.front() == '\n') return Match::no;  // an empty line, and more of a live stream to come
  for (std::size_t i = 0; i < std::min(start.size(), kCharacters * width); ++i) {
    const bool holds_character = i % width == (big ? width - 1 : 0);
    const bool is_text = (start[i] >= ' ' && start[i] < 0x7f) || start[i] == '\t' ||
                         start[i] == '\r' || start[i] == '\n';
    if (holds_character ? !is_text : start[i] != '\0') return match(start, mark);
  }
  return start.size() >= kCharacters * width ? Match::yes : Match::so_far;
}

Match match_unreadable(std::string_view start) {
  const UnreadableForm form = unreadable_form(start);
  return !form.hint.empty() ? Match::yes : form.undecided ? Match::so_far : Match::no;
}

Match match_json(std::string_view start) {
  switch (JsonStage::begins(start)) {
    case JsonStage::Beginning::no:
      return Match::no;
    case JsonStage::Beginning::so_far:
      return Match::so_far;
    case JsonStage::Beginning::yes:
      break;
  }
  return Match::yes;
}

Match match_tar(std::string_view start) {
  if (!could_be_tar_header(start)) return Match::no;
  if (start.size() < kTarBlock) return Match::so_far;
  return has_valid_checksum(start.substr(0, kTarBlock)) ? Match::yes : Match::no;
}

}  // namespace

std::optional<Format> format_of(std::string_view start, bool all) {
  if (start.empty()) return std::nullopt;
  using namespace std::string_view_literals;
  const struct {
    Format format;
    Match match;
  } candidates[] = {
      {Format::gzip, match(start, "\x1f\x8b")},
      {Format::zstd, match_zstd(start)},
      {Format::xz, match(start, "\xfd\x37zXZ\0"sv)},
      {Format::bzip2, match_bzip2(start)},
      {Format::zip, either(match(start, kZipMember), match(start, "PK\5\6"))},
      {Format::tar, match_tar(start)},
      // UTF-32 first: its little-endian mark begins with that of UTF-16.
      {Format::utf32_little, match_wide(start, 4, false, "\xff\xfe\0\0"sv)},
      {Format::utf32_big, match_wide(start, 4, true, "\0\0\xfe\xff"sv)},
      {Format::utf16_little, match_wide(start, 2, false, "\xff\xfe"sv)},
      {Format::utf16_big, match_wide(start, 2, true, "\xfe\xff"sv)},
      {Format::unreadable, match_unreadable(start)},
      {Format::json, match_json(start)},
  };
  bool undecided = false;
  for (const auto& candidate : candidates) {
    if (candidate.match == Match::yes) {
      if (undecided) return std::nullopt;
      return candidate.format;
    }
    undecided = undecided || (!all && candidate.match == Match::so_far);
  }
  if (undecided) return std::nullopt;
  return Format::plain;
}

}  // namespace faultline::unpacking
