#include "guard/guard_mark.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace faultline {
namespace {

// The value of NAME=, up to the next blank or bracket.
std::string_view value_in(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + name.size());
  return rest.substr(0, rest.find_first_of(" )]"));
}

}  // namespace

bool is_plain_id(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  return !text.empty() && text.size() <= kLongest && std::ranges::all_of(text, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
  });
}

std::string text_of_mark(const GuardMark& mark) {
  return fmt::format("finding={} incident={} time={}", mark.finding, mark.incident,
                     to_rfc3339(mark.time));
}

std::optional<GuardMark> mark_in(std::string_view text) {
  const auto time = parse_rfc3339(value_in(text, "time="));
  GuardMark mark{.finding = std::string(value_in(text, "finding=")),
                 .incident = std::string(value_in(text, "incident=")),
                 .time = time.value_or(Timestamp{})};
  if (!time || !is_plain_id(mark.finding) || !is_plain_id(mark.incident)) return std::nullopt;
  return mark;
}

}  // namespace faultline
