// ResendFilter: compares a body without an offset with what its source already holds, so that the
// same bytes sent again change nothing and a file that grew adds only its new bytes.
//
// Bytes are recognised by the fingerprints of the blocks in which they were committed: whole lines,
// except where a body ended without a newline. A body is compared block by block from the start of
// any earlier body; meanwhile at most one block and one piece of it are held back. A block matches
// only one stretch of a body, because a log may say the same twice. From the first block that
// differs, all bytes are new.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/block_reader.h"
#include "store/store.h"

namespace faultline {

// The blocks that a source holds, read from the store as needed.
struct HeldBlocks {
  std::vector<HeldBlock> starts;  // of bodies, in the order of the source
  // Some of the blocks behind that of `batch`; none if it is the last.
  std::function<std::vector<HeldBlock>(std::int64_t batch)> after;
};

// `bodies`: only those that came last, so many of them.
HeldBlocks held_blocks(Store& store, const std::string& job, const std::string& source,
                       std::size_t bodies = SIZE_MAX);

class ResendFilter {
 public:
  explicit ResendFilter(HeldBlocks held);

  // Returns the new bytes so far that were not returned yet; valid until the next call.
  std::string_view feed(std::string_view bytes);

  // The body is complete. A rest that is not a whole block is new, even if a block begins like it:
  // logs of two attempts begin with the same banner, and a lost line is worse than one that is
  // stored twice.
  std::string_view finish();

  // The body means nothing in part: a shorter body is another one, not the beginning of one that
  // grew.
  void expect_whole_bodies() { whole_bodies_ = true; }

  // The sender has paused. After a long pause, bytes that are too few to be recognised are new: a
  // stream that has just begun must not wait unseen. But a slow sender that sends its body again
  // must not be taken for such a stream.
  std::string_view settle(bool for_long);

  // True once all further bytes are new; feed() then costs nothing.
  bool passes_all() const { return passes_all_; }

  std::size_t held_bytes() const { return buffer_.size(); }

  std::uint64_t duplicate_bytes() const { return duplicate_bytes_; }

  // Whether the new bytes continue the source at its end, rather than begin a new body or a branch
  // of an earlier one.
  bool continues_source() const { return last_matched_ && !next_; }

 private:
  struct Candidate {
    HeldBlock block;
    bool follows = false;  // the block that was matched last
    bool head_matches = false;
  };

  std::string_view rest() const { return std::string_view(buffer_).substr(start_); }
  void drop(std::size_t bytes);
  void begin_boundary();
  void drop_those_that_begin_otherwise();
  bool match_block(bool complete);
  void take_block(HeldBlock block);
  std::string_view skip_overlong_line(std::string_view bytes);
  void find_next();
  std::string_view give_up();

  HeldBlocks held_;
  std::vector<HeldBlock> window_;      // the blocks that held_.after() returned last
  std::vector<Candidate> candidates_;  // what the next bytes may be, longest block first
  std::set<std::int64_t> matched_;     // batches
  std::optional<HeldBlock> last_matched_;
  std::optional<HeldBlock> next_;  // the block behind last_matched_
  std::string buffer_;             // held back; from start_ on undecided
  std::size_t start_ = 0;
  std::uint64_t skipping_ = 0;  // bytes of an overlong line still to pass over
  std::uint64_t duplicate_bytes_ = 0;
  bool passes_all_ = false;
  bool whole_bodies_ = false;
};

}  // namespace faultline
