// The digests of the bytes of a block, by which they are recognised if they are sent again.
#pragma once

#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace faultline {

// BlockDigests::head covers at most this many bytes.
inline constexpr std::size_t kHeadBytes = 256;

std::uint64_t digest_of(std::string_view bytes);

struct BlockDigests {
  std::uint64_t all = 0;   // XXH3-64 of exactly the bytes of the block
  std::uint64_t head = 0;  // of the first min(kHeadBytes, size) of them
  bool operator==(const BlockDigests&) const = default;
};

// The digest of a block, which ends with its last whole line, although lines come in pieces.
class BlockDigest {
 public:
  BlockDigest();
  ~BlockDigest();
  BlockDigest(const BlockDigest&) = delete;
  BlockDigest& operator=(const BlockDigest&) = delete;

  void add(std::string_view bytes);

  std::uint64_t bytes() const { return all_bytes_; }
  std::uint64_t whole_line_bytes() const { return all_bytes_ - tail_bytes_; }

  // The digests of the whole lines (or of everything). The next block begins after them.
  BlockDigests cut(bool everything);

 private:
  // XXH3 cannot go back, so there are three states: of all bytes, of the bytes up to the last
  // newline, and of the unfinished line, with which the next block begins.
  XXH3_state_t* all_;
  XXH3_state_t* lines_;
  XXH3_state_t* tail_;
  std::uint64_t all_bytes_ = 0;
  std::uint64_t tail_bytes_ = 0;
  std::string head_;       // first kHeadBytes of the block
  std::string tail_head_;  // first kHeadBytes of the unfinished line
};

}  // namespace faultline
