#include "rules/picture/who/host_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "rules/state/sources.h"

namespace faultline {
namespace {

constexpr std::size_t kMostDigits = 9;
constexpr std::size_t kLongestValue =
    256;  // that is kept of a report; sacct ends what it cuts with "+"

struct HostRange {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::size_t digits = 0;  // at least so many are written
};

// One name, cut at its brackets: a name and what may follow it.
struct HostPiece {
  std::string_view name;
  std::vector<HostRange> ranges;  // none: nothing follows
};

std::optional<HostRange> range_of(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('-'));
  const std::string_view last = first.size() == text.size() ? first : text.substr(first.size() + 1);
  const auto read = [](std::string_view digits, std::uint64_t& number) {
    const char* end = digits.data() + digits.size();
    return digits.size() <= kMostDigits && std::from_chars(digits.data(), end, number).ptr == end &&
           !digits.empty();
  };
  HostRange range{.digits = first.size()};
  if (!read(first, range.from) || !read(last, range.to) || range.to < range.from) return {};
  return range;
}

// The pieces of one name; none if it is not written as a list of hosts is.
std::vector<HostPiece> pieces_of(std::string_view text) {
  std::vector<HostPiece> pieces;
  while (!text.empty()) {
    const std::size_t open = text.find('[');
    HostPiece& piece = pieces.emplace_back(HostPiece{.name = text.substr(0, open), .ranges = {}});
    if (open == text.npos) break;
    const std::size_t close = text.find(']', open);
    if (close == text.npos) return {};
    std::string_view inside = text.substr(open + 1, close - open - 1);
    do {
      const std::string_view one = inside.substr(0, inside.find(','));
      const std::optional<HostRange> range = range_of(one);
      if (!range) return {};
      piece.ranges.push_back(*range);
      inside.remove_prefix(std::min(one.size() + 1, inside.size()));
    } while (!inside.empty());
    text.remove_prefix(close + 1);
  }
  return pieces;
}

// How many names these pieces stand for, counted no further than `most` + 1.
std::size_t count_of(const std::vector<HostPiece>& pieces, std::size_t most) {
  std::size_t count = 1;
  for (const HostPiece& piece : pieces) {
    std::size_t here = piece.ranges.empty() ? 1 : 0;
    for (const HostRange& range : piece.ranges) here += range.to - range.from + 1;
    count = std::min(count * std::min(here, most + 1), most + 1);
  }
  return count;
}

std::vector<std::string> names_in(const std::vector<HostPiece>& pieces) {
  std::vector<std::string> names{""};
  for (const HostPiece& piece : pieces) {
    for (std::string& name : names) name += piece.name;
    if (piece.ranges.empty()) continue;
    std::vector<std::string> longer;
    for (const HostRange& range : piece.ranges)
      for (std::uint64_t number = range.from; number <= range.to; ++number)
        for (const std::string& name : names)
          longer.push_back(fmt::format("{}{:0{}}", name, number, range.digits));
    names = std::move(longer);
  }
  return names;
}

bool is_name(std::string_view name) {
  return !name.empty() && name.find_first_of(" \t()=/") == name.npos && name != "n/a";
}

}  // namespace

const HostList& HostLists::of(std::string_view text) {
  const auto [known, is_new] = read_.try_emplace(std::string(text));
  HostList& list = known->second;
  if (!is_new) return list;
  const bool is_cut = text.ends_with('+') || text.size() >= kLongestValue;
  while (!text.empty()) {
    std::size_t end = 0;
    for (int depth = 0; end < text.size() && (depth > 0 || text[end] != ','); ++end)
      depth += text[end] == '[' ? 1 : text[end] == ']' ? -1 : 0;
    const std::string_view name = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (name.empty()) continue;
    if (text.empty() && is_cut) {
      list.whole = false;
      break;
    }
    const std::vector<HostPiece> pieces = pieces_of(name);
    const std::size_t count = count_of(pieces, kMostInOne);
    if (pieces.empty() || list.hosts.size() + count > kMostInOne || count * pieces.size() > left_) {
      list.whole = false;
      continue;
    }
    left_ -= count * pieces.size();
    for (const std::string& host : names_in(pieces))
      if (is_name(host)) list.hosts.push_back(short_host(host));
  }
  std::ranges::sort(list.hosts);
  list.hosts.erase(std::ranges::unique(list.hosts).begin(), list.hosts.end());
  return list;
}

}  // namespace faultline
