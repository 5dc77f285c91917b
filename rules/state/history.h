// What ranks called, in order: stored once where ranks agree, and separately from where they
// differ.
//
// A tree of sequences; a rank is a place in it. Ranks that called the same things are on the same
// branch, even if they are in different communicators. A rank that calls something else gets a new
// branch. So memory grows with the number of different histories, not with ranks or lines.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "rules/state/folded_sequence.h"

namespace faultline {

class History {
 public:
  struct Place {
    std::uint32_t branch = 0;
    std::uint64_t position = 0;  // calls made
  };

  History() : branches_(1) {}

  // The rank at `place` calls `symbol`. Returns whether it leaves its branch.
  bool advance(Place& place, std::uint32_t symbol);

  // What the rank at `place` called as its position-th call, counted from 0; position <
  // place.position.
  std::uint32_t call_at(const Place& place, std::uint64_t position) const;

  // The length of the common beginning of both.
  std::uint64_t common(const Place& a, const Place& b) const;

  std::size_t branches() const { return branches_.size(); }
  std::size_t held() const;

  void pack(ByteWriter& out) const;
  static History unpack(ByteReader& in, std::size_t symbols);
  // Whether the place exists.
  bool has(const Place& place) const;

 private:
  struct Branch {
    std::uint32_t parent = 0;
    std::uint64_t fork = 0;  // position of its first call
    FoldedSequence calls;
    std::size_t near = 0;  // where the last rank read in `calls`
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> children;  // position, symbol
  };

  std::vector<Branch> branches_;  // the first is the trunk
};

}  // namespace faultline
