#include "guard/guard_mark.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <vector>

namespace faultline {
namespace {

constexpr std::string_view kBetween = "; ";
constexpr std::string_view kSettled = "settled=";

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

std::string text_of_memory(const GuardMemory& memory) {
  std::vector<std::string> parts;
  for (const GuardMark& mark : memory.marks) parts.push_back(text_of_mark(mark));
  if (memory.settled) parts.push_back(fmt::format("{}{}", kSettled, to_rfc3339(*memory.settled)));
  return fmt::format("{}", fmt::join(parts, kBetween));
}

std::optional<GuardMemory> memory_in(std::string_view text) {
  GuardMemory memory;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(kBetween, at), text.size());
    const std::string_view part = text.substr(at, end - at);
    at = end + kBetween.size();
    if (part.starts_with(kSettled)) {
      memory.settled = parse_rfc3339(part.substr(kSettled.size()));
      if (!memory.settled) return std::nullopt;
      continue;
    }
    const std::optional<GuardMark> mark = mark_in(part);
    if (!mark) return std::nullopt;
    memory.marks.push_back(*mark);
  }
  return memory;
}

void add_mark(GuardMemory& memory, const GuardMark& mark) {
  constexpr std::size_t kMostMarks = 8;
  memory.marks.push_back(mark);
  if (memory.marks.size() > kMostMarks) memory.marks.erase(memory.marks.begin());
}

void settle(GuardMemory& memory, Timestamp now) {
  // In whole seconds, as marks are, and none too early.
  memory.settled = std::chrono::ceil<std::chrono::seconds>(now);
}

}  // namespace faultline
