// Durations as people write them: 500ms, 90s, 5m, 1h, 7d; a bare number is seconds.
#pragma once

#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace faultline {

inline std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [unit, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || number < 0 || number > 100'000'000) return std::nullopt;
  const std::string_view suffix(unit, static_cast<std::size_t>(end - unit));
  if (suffix == "ms") return std::chrono::milliseconds(number);
  if (suffix.empty() || suffix == "s") return std::chrono::seconds(number);
  if (suffix == "m") return std::chrono::minutes(number);
  if (suffix == "h") return std::chrono::hours(number);
  if (suffix == "d") return std::chrono::days(number);
  return std::nullopt;
}

}  // namespace faultline
