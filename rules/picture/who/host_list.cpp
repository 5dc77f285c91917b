#include "rules/picture/who/host_list.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>

#include "rules/state/sources.h"

namespace faultline {
namespace {

constexpr std::size_t kMostHosts = 16384;
constexpr std::size_t kMostDigits = 9;

// "1-2" -> "1", "2", each with as many digits as the list writes.
std::vector<std::string> numbers_in(std::string_view text) {
  std::vector<std::string> numbers;
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, text.find(','));
    text.remove_prefix(std::min(piece.size() + 1, text.size()));
    const std::string_view first = piece.substr(0, piece.find('-'));
    const std::string_view last =
        first.size() == piece.size() ? first : piece.substr(first.size() + 1);
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    const auto is_number = [](std::string_view digits, std::uint64_t& number) {
      return !digits.empty() && digits.size() <= kMostDigits &&
             std::from_chars(digits.data(), digits.data() + digits.size(), number).ptr ==
                 digits.data() + digits.size();
    };
    if (!is_number(first, from) || !is_number(last, to)) return {};
    for (; from <= to && numbers.size() < kMostHosts; ++from)
      numbers.push_back(fmt::format("{:0{}}", from, first.size()));
  }
  return numbers;
}

// The names that one name with brackets stands for.
std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names{""};
  while (!text.empty()) {
    const std::size_t open = text.find('[');
    for (std::string& name : names) name += text.substr(0, open);
    if (open == text.npos) break;
    const std::size_t close = text.find(']', open);
    if (close == text.npos) return {};
    std::vector<std::string> longer;
    for (const std::string& number : numbers_in(text.substr(open + 1, close - open - 1)))
      for (const std::string& name : names)
        if (longer.size() < kMostHosts) longer.push_back(name + number);
    names = std::move(longer);
    text.remove_prefix(close + 1);
  }
  return names;
}

bool is_name(std::string_view name) {
  return !name.empty() && name.find_first_of(" \t()=/") == name.npos && name != "n/a";
}

}  // namespace

std::vector<std::string> hosts_in_list(std::string_view text) {
  std::vector<std::string> hosts;
  while (!text.empty()) {
    std::size_t end = 0;
    for (int depth = 0; end < text.size() && (depth > 0 || text[end] != ','); ++end)
      depth += text[end] == '[' ? 1 : text[end] == ']' ? -1 : 0;
    for (const std::string& name : names_in(text.substr(0, end)))
      if (is_name(name) && hosts.size() < kMostHosts) hosts.push_back(short_host(name));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return hosts;
}

}  // namespace faultline
