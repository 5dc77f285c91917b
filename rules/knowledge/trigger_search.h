// TriggerSearch finds literals in a line: of at least four bytes, or of three if it is known which
// bytes may stand before them. It is fast for lines that hold none, which are nearly all: it looks
// only at every second place, for three bytes of a literal that are rare elsewhere.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace faultline {

class TriggerSearch {
 public:
  static constexpr std::size_t kMinBytes = 4;

  struct Literal {
    std::string text;
    std::string before =
        {};  // for a literal of three bytes: it begins the line, or follows one of these
  };

  explicit TriggerSearch(std::vector<Literal> literals);

  // Calls found(number, end) for every literal in the line: its number in the list, and the place
  // after its last byte.
  template <class Found>
  void find(std::string_view line, const Found& found) const {
    const char* const text = line.data();
    const auto try_at = [&](std::size_t at) {
      if (const std::uint32_t four = four_at(text + at); may_be_of_one(four)) [[unlikely]]
        look(line, at, four & kThree, found);
    };
    std::size_t at = 0;
    for (; at + 10 <= line.size(); at += 8) {
      try_at(at);
      try_at(at + 2);
      try_at(at + 4);
      try_at(at + 6);
    }
    for (; at + 4 <= line.size(); at += 2) try_at(at);
    if (at + 3 != line.size()) return;
    std::uint32_t last = 0;
    std::memcpy(&last, text + at, 3);
    if (may_be_of_one(last)) look(line, at, last, found);
  }

 private:
  // Three bytes by which a literal is found, and their offset from its beginning.
  struct Probe {
    std::uint32_t three = 0;
    std::uint32_t first_four = 0;  // of the literal; if it has three bytes, the last is 0
    std::uint32_t literal = 0;
    std::int32_t offset = 0;
  };

  void add_probe(std::uint32_t literal, std::string_view three, std::int32_t offset);

  static constexpr std::uint32_t kThree = 0xffffff;
  static constexpr unsigned kSlotBits = 18;
  static constexpr unsigned kSlotsOfAWord = 64;
  static constexpr std::size_t kWords = (std::size_t{1} << kSlotBits) / kSlotsOfAWord;

  static std::uint32_t four_at(const char* text) {
    std::uint32_t four = 0;
    std::memcpy(&four, text, sizeof four);
    return four;
  }
  // Knuth's multiplicative hash of the first three bytes; the shift drops the fourth.
  static std::size_t slot(std::uint32_t four) {
    return (four * (2654435761U << 8)) >> (32 - kSlotBits);
  }
  bool may_be_of_one(std::uint32_t four) const {
    const std::size_t here = slot(four);
    return (words_[here / kSlotsOfAWord] >> (here % kSlotsOfAWord) & 1) != 0;
  }

  template <class Found>
  [[gnu::noinline]] void look(std::string_view line, std::size_t at, std::uint32_t three,
                              const Found& found) const {
    const std::size_t word = slot(three) / kSlotsOfAWord;
    for (std::uint32_t i = first_of_word_[word]; i < first_of_word_[word + 1]; ++i) {
      const Probe& probe = probes_[i];
      const auto place = static_cast<std::int64_t>(at) - probe.offset;
      if (probe.three != three || place < 0) continue;
      const auto begin = static_cast<std::size_t>(place);
      const std::string_view literal = literals_[probe.literal].text;
      if (begin + literal.size() > line.size() || !begins_with(line.data() + begin, probe))
        continue;
      if (literal.size() <= kMinBytes || line.substr(begin).starts_with(literal))
        found(probe.literal, begin + literal.size());
    }
  }

  static bool begins_with(const char* text, const Probe& probe) {
    std::uint32_t four = 0;
    const bool is_short = probe.first_four <= kThree;  // in little-endian order
    std::memcpy(&four, text, is_short ? 3 : sizeof four);
    return four == probe.first_four;
  }

  std::vector<Literal> literals_;
  std::vector<Probe> probes_;                              // by slot
  std::array<std::uint32_t, kWords + 1> first_of_word_{};  // in probes_
  std::array<std::uint64_t, kWords> words_{};  // a bit for each slot: whether any probe has it
};

}  // namespace faultline
