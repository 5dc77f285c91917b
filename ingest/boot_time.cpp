#include "ingest/boot_time.h"

#include <charconv>

namespace faultline {

std::optional<Timestamp> parse_boot_time(std::string_view text) {
  constexpr std::int64_t kLastSecond = 253'402'300'799;  // of the year 9999
  std::int64_t second = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), second);
  if (error == std::errc{} && end == text.data() + text.size()) {
    if (second < 0 || second > kLastSecond) return std::nullopt;
    return Timestamp{std::chrono::seconds(second)};
  }
  return parse_rfc3339(text);
}

}  // namespace faultline
