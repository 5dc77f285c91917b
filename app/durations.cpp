#include "app/durations.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/duration.h"

namespace faultline {
namespace {

bool is_bare_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::string as_text(std::chrono::milliseconds time) {
  if (time % std::chrono::hours{1} == std::chrono::milliseconds{0})
    return fmt::format("{}h", time / std::chrono::hours{1});
  if (time % std::chrono::seconds{1} == std::chrono::milliseconds{0})
    return fmt::format("{}s", time / std::chrono::seconds{1});
  return fmt::format("{}ms", time.count());
}

}  // namespace

std::optional<std::chrono::milliseconds> setting_duration(std::string_view text) {
  const auto duration = parse_duration(text);
  if (is_bare_number(text) && duration != std::chrono::milliseconds{0}) return std::nullopt;
  return duration;
}

std::string wrong_duration(std::string_view text, const DurationLimits& limits) {
  const bool zero = !limits.zero.empty();
  const auto duration = setting_duration(text);
  if (!duration && is_bare_number(text) && text.size() < 9)
    return fmt::format("must be a duration with a unit: {0}s, {0}m, {0}h or {0}d", text);
  if (!duration)
    return fmt::format("must be a duration such as {}90s, 5m, 1h or 7d", zero ? "0, " : "");
  if (*duration == std::chrono::milliseconds{0})
    return zero ? "" : fmt::format("must be a duration of {} or more", as_text(limits.least));
  if (*duration >= limits.least) return "";
  return fmt::format("must be a duration of {} or more{}", as_text(limits.least),
                     zero ? fmt::format(", or 0: {}", limits.zero) : std::string());
}

}  // namespace faultline
