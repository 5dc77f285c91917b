// What bytes are, told from how they begin.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace faultline::unpacking {

enum class Format { plain, gzip, zstd, tar };

// As many bytes decide in every case.
inline constexpr std::size_t kFormatBytes = 512;

// nullopt: more bytes are needed. Text is known to be text at its first newline at the latest, so a
// live stream of lines is never held up.
std::optional<Format> format_of(std::string_view start);

}  // namespace faultline::unpacking
