// What ranks called, in order: kept once as far as they agree, and apart from where they differ.
//
// A tree of sequences. A rank is a place in it. Ranks that called the same things are on the same
// branch, whichever communicator they are of; a rank that calls something else leaves on a branch
// of its own. So memory follows the number of different histories, not of ranks or lines.
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

  // The rank at `place` calls `symbol`. True if it leaves the branch it was on.
  bool advance(Place& place, std::uint32_t symbol);

  // What the rank at `place` called as its position-th call, counted from 0; position <
  // place.position.
  std::uint32_t call_at(const Place& place, std::uint64_t position) const;

  // How many first calls the two have in common.
  std::uint64_t common(const Place& a, const Place& b) const;

  std::size_t branches() const { return branches_.size(); }
  std::size_t held() const;

  void pack(ByteWriter& out) const;
  static History unpack(ByteReader& in, std::size_t symbols);
  // Whether a rank can stand there.
  bool has(const Place& place) const;

 private:
  struct Branch {
    std::uint32_t parent = 0;
    std::uint64_t fork = 0;  // position of its first call
    FoldedSequence calls;
    std::size_t near = 0;  // where in `calls` the rank before this one looked
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> children;  // position, symbol
  };

  std::vector<Branch> branches_;  // the first is the trunk
};

}  // namespace faultline
