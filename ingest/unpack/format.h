// Recognises the format of bytes by how they begin.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace faultline::unpacking {

enum class Format {
  plain,
  gzip,
  zstd,
  xz,
  bzip2,
  tar,
  zip,
  utf16_little,
  utf16_big,
  utf32_little,
  utf32_big,
  json,        // records in a list, or printed over several lines
  unreadable,  // see unreadable_form()
};

// This many bytes are enough in every case.
inline constexpr std::size_t kFormatBytes = 512;

// nullopt: more bytes are needed, unless this is all. Text is known to be text at its first newline
// at the latest, so a live stream of lines is never held up.
std::optional<Format> format_of(std::string_view start, bool all);

}  // namespace faultline::unpacking
