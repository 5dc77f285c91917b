// A long sequence of small numbers, stored with its repeats folded: a training loop makes the same
// calls in the same order a million times, and that should cost the memory of one iteration.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/bytes.h"

namespace faultline {

class FoldedSequence {
 public:
  void push_back(std::uint32_t symbol);
  std::uint32_t at(std::uint64_t index) const;  // index < size()

  // The same, faster for a reader that goes forward: `near` remembers its position.
  std::uint32_t at(std::uint64_t index, std::size_t& near) const;
  std::uint64_t size() const { return size_; }

  // Symbols actually held in memory.
  std::size_t held() const { return symbols_.size(); }

  // Stores what is needed to continue the sequence. Symbols >= `symbols` are refused with BadBytes.
  void pack(ByteWriter& out) const;
  static FoldedSequence unpack(ByteReader& in, std::size_t symbols);

 private:
  // Elements start, start+1, … are symbols_[first], symbols_[first+1], …, starting over after
  // `period` of them. A stretch that does not repeat has period == length.
  struct Stretch {
    std::uint64_t start;
    std::uint64_t length;
    std::size_t first;
    std::size_t period;
  };

  void push_literal(std::uint32_t symbol);
  void try_fold();

  std::vector<std::uint32_t> symbols_;
  std::vector<Stretch> stretches_;
  std::uint64_t size_ = 0;

  // To find repeats in the last stretch: where the last few symbols were seen before in this order,
  // and for how long the sequence has agreed with itself one candidate period ago.
  std::unordered_map<std::uint64_t, std::size_t> contexts_;
  std::size_t candidate_ = 0;  // period that is being tried; 0: none
  std::size_t agreed_ = 0;
};

}  // namespace faultline
