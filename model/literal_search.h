// LiteralSearch: which of many literals stand in a text. It spares the regular expressions most
// lines, so it must be quick on a text that holds none of them.
#pragma once

#include <bitset>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace faultline {

class LiteralSearch {
 public:
  static constexpr std::size_t kMinBytes = 4;

  // `number` is what find() reports for a literal of at least kMinBytes.
  struct Literal {
    std::string text;
    std::uint32_t number = 0;
  };

  explicit LiteralSearch(std::vector<Literal> literals);

  // Calls found(number) for every place where a literal stands, until it returns true; returns
  // whether it did.
  template <class Found>
  bool find(std::string_view text, Found found) const {
    for (std::size_t at = 0; at + kMinBytes <= text.size(); at += stride_) {
      const std::uint32_t window = window_at(text, at);
      if (!may_begin_[slot(window)]) continue;
      for (const Probe& probe : probes_of(window))
        if (stands(text, at, probe) && found(literals_[probe.literal].number)) return true;
    }
    return false;
  }

 private:
  // Four bytes of a literal and where in it they stand.
  struct Probe {
    std::uint32_t window = 0;
    std::uint32_t literal = 0;
    std::uint32_t offset = 0;
  };

  static constexpr unsigned kSlotBits = 17;

  static std::uint32_t window_at(std::string_view text, std::size_t at) {
    std::uint32_t window = 0;
    std::memcpy(&window, text.data() + at, sizeof window);
    return window;
  }
  static std::size_t slot(std::uint32_t window) {
    return (window * 2654435761U) >> (32 - kSlotBits);  // Knuth's multiplicative hash
  }
  std::span<const Probe> probes_of(std::uint32_t window) const;
  bool stands(std::string_view text, std::size_t at, const Probe& probe) const;

  std::vector<Literal> literals_;
  std::vector<Probe> probes_;  // by window
  // probes_ has the windows at the first stride_ places of each literal. So one of them is met even
  // if only every stride_-th place of a text is looked at.
  std::size_t stride_ = 1;
  std::bitset<std::size_t{1} << kSlotBits> may_begin_;
};

}  // namespace faultline
