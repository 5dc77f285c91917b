#include "rules/knowledge/trigger_search.h"

#include <algorithm>
#include <cassert>
#include <map>

namespace faultline {
namespace {

// How rare a byte is, as counted in the logs of the tests; a byte that is not listed is rarest.
int rarity(char c) {
  constexpr std::string_view kCommonestFirst = " 0eotnadfcu45rs2p7m1bx:9C638l-Ni[]gIkvLOhyFR|`=.A,";
  return static_cast<int>(std::min(kCommonestFirst.find(c), kCommonestFirst.size()));
}

}  // namespace

void TriggerSearch::add_probe(std::uint32_t literal, std::string_view three, std::int32_t offset) {
  Probe probe{.literal = literal, .offset = offset};
  const std::string& text = literals_[literal].text;
  std::memcpy(&probe.three, three.data(), kMinBytes - 1);
  std::memcpy(&probe.first_four, text.data(), std::min(text.size(), kMinBytes));
  probes_.push_back(probe);
}

TriggerSearch::TriggerSearch(std::vector<Literal> literals) : literals_(std::move(literals)) {
  std::map<std::string_view, int> sharers;  // how often literals hold these three bytes
  for (const Literal& literal : literals_)
    for (std::size_t at = 0; at + 3 <= literal.text.size(); ++at)
      ++sharers[std::string_view(literal.text).substr(at, 3)];
  for (std::uint32_t number = 0; number < literals_.size(); ++number) {
    const std::string_view literal = literals_[number].text;
    // Two probes at neighbouring offsets: one of them stands at an even place of the line.
    if (literal.size() < kMinBytes) {
      assert(literal.size() + 1 == kMinBytes);
      add_probe(number, literal, 0);
      for (const char before : literals_[number].before)
        add_probe(number, before + std::string(literal.substr(0, 2)), -1);
      continue;
    }
    const auto worth = [&](std::size_t at) {
      constexpr int kSharing =
          4;  // each literal that shares the bytes costs so many steps of rarity
      int sum = 0;
      for (const char c : literal.substr(at, kMinBytes)) sum += rarity(c);
      return sum - kSharing * (sharers[literal.substr(at, 3)] + sharers[literal.substr(at + 1, 3)]);
    };
    std::uint32_t best = 0;
    for (std::uint32_t at = 1; at + kMinBytes <= literal.size(); ++at)
      if (worth(at) > worth(best)) best = at;
    for (const std::uint32_t offset : {best, best + 1})
      add_probe(number, literal.substr(offset, 3), static_cast<std::int32_t>(offset));
  }
  const auto slot_of = [](const Probe& probe) { return slot(probe.three); };
  std::ranges::stable_sort(probes_, {}, slot_of);
  for (const Probe& probe : probes_) {
    const std::size_t word = slot_of(probe) / kSlotsOfAWord;
    words_[word] |= std::uint64_t{1} << (slot_of(probe) % kSlotsOfAWord);
    ++first_of_word_[word + 1];
  }
  for (std::size_t word = 0; word < kWords; ++word)
    first_of_word_[word + 1] += first_of_word_[word];
}

}  // namespace faultline
