#include "app/sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace faultline {
namespace {

// By how many bits a unit shifts a number.
std::optional<unsigned> shift_of(std::string_view unit) {
  if (unit.empty() || unit == "B") return 0;
  const std::size_t step = std::string_view("KMGT").find(unit.front());
  const std::string_view rest = unit.substr(1);
  if (step == std::string_view::npos || !(rest.empty() || rest == "B" || rest == "iB"))
    return std::nullopt;
  return static_cast<unsigned>(10 * (step + 1));
}

}  // namespace

std::optional<std::uint64_t> setting_size(std::string_view text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, bad] = std::from_chars(text.data(), end, number);
  if (bad != std::errc{}) return std::nullopt;
  std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  if (unit.starts_with(' ') && unit.size() > 1) unit.remove_prefix(1);
  const auto shift = shift_of(unit);
  constexpr unsigned kBits = 63;  // the most that the database can compare
  if (!shift || number >> (kBits - *shift) != 0) return std::nullopt;
  return number << *shift;
}

std::optional<std::uint64_t> setting_size_or_share(std::string_view text, std::uint64_t all) {
  if (!text.ends_with('%')) return setting_size(text);
  unsigned percent = 0;
  const char* end = text.data() + text.size() - 1;
  const auto [stop, bad] = std::from_chars(text.data(), end, percent);
  if (bad != std::errc{} || stop != end || percent < 1 || percent > 100) return std::nullopt;
  return all / 100 * percent;
}

std::string wrong_size(std::string_view text, std::string_view least, std::string_view zero) {
  const auto size = setting_size(text);
  if (!size) return "must be a size such as 0, 64KB, 128MB, 2GB or 1TB";
  if (*size == 0 || *size >= setting_size(least).value_or(0)) return "";
  return fmt::format("must be a size of {} or more, or 0: {}", least, zero);
}

}  // namespace faultline
