#include "parsers/torch/torch_group.h"

#include "model/ranks.h"
#include "parsers/pattern.h"

namespace faultline {

namespace {

constexpr std::size_t kMostRanks = std::size_t{1} << 16;
constexpr std::size_t kMostNameBytes = 256;

int small(std::string_view digits) { return number_in<int>(digits).value_or(-1); }

}  // namespace

TorchGroup torch_group_of(std::string_view text) {
  static const Pattern kWithGuid(
      R"(\[PG ID (\d+) PG GUID ([^ ()\]]+)(?:\(([^)]*)\))? Rank (\d+)\])");
  static const Pattern kWithNumber(R"(\[PG (\d+)(?: \(([^)]*)\))? Rank (\d+)\])");
  static const Pattern kRankOnly(R"(\[Rank (\d+)\])");
  std::string_view id;
  std::string_view name;
  std::string_view description;
  std::string_view rank;
  if (kWithGuid.find(text, &id, &name, &description, &rank))
    return {small(id), std::string(name.substr(0, kMostNameBytes)),
            std::string(description.substr(0, kMostNameBytes)), rank_in(rank).value_or(-1)};
  // Before groups had names, only the number 0 meant the same group on all ranks.
  if (kWithNumber.find(text, &id, &description, &rank))
    return {small(id), std::string(id == "0" ? id : std::string_view()),
            std::string(description.substr(0, kMostNameBytes)), rank_in(rank).value_or(-1)};
  if (kRankOnly.find(text, &rank)) return {.rank = rank_in(rank).value_or(-1)};
  return {};
}

std::optional<int> rank_in(std::string_view text) {
  const auto rank = number_in<int>(text);
  return rank && *rank >= 0 && *rank < kMaxRanks ? rank : std::nullopt;
}

std::vector<int> rank_list(std::string_view text) {
  std::vector<int> ranks;
  while (!text.empty() && ranks.size() < kMostRanks) {
    const std::size_t begin = text.find_first_of("0123456789");
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const std::size_t size = std::min(text.find_first_not_of("0123456789"), text.size());
    if (const auto rank = rank_in(text.substr(0, size))) ranks.push_back(*rank);
    text.remove_prefix(size);
  }
  return ranks;
}

}  // namespace faultline
