// Sizes of settings, in steps of 1024: 1KB is 1024 bytes, and so is 1KiB.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace faultline {

// 0, 5000000000, 64KB, 128 MiB, 2GB, 1TB
std::optional<std::uint64_t> setting_size(std::string_view text);

// A size, or a share of `all`, such as 50%.
std::optional<std::uint64_t> setting_size_or_share(std::string_view text, std::uint64_t all);

// What is wrong with `text`; empty: nothing. `zero`: what 0 means; 0 is allowed even if `least` is
// more.
std::string wrong_size(std::string_view text, std::string_view least, std::string_view zero);

}  // namespace faultline
