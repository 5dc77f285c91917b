// ResendFilter: a body whose sender did not say where in the source it stands is compared with what
// the source already holds, so that the same bytes sent again change nothing and a grown file adds
// only what it grew by.
//
// Bytes are known by the fingerprints of the blocks they were committed in: whole lines, except
// where a body ended without a newline. A body is compared block by block from the start of any
// earlier body; it is held back meanwhile, never by more than one block and one piece. A block
// stands for one stretch of a body only: a log may well say the same again. From the first block
// that differs all is new.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace faultline {

// Blocks are cut before they exceed this, unless their first line is longer; then that line alone
// is the block, and no reader keeps any of it (Reader::kMaxLineBytes).
inline constexpr std::size_t kMaxBlockBytes = std::size_t{1} << 20;
// Of a body that means nothing in part; a larger one, a trace, is taken for new.
inline constexpr std::size_t kMostHeldBytes = std::size_t{64} << 20;
// Fingerprint::head_digest covers at most this many.
inline constexpr std::size_t kHeadBytes = 256;

std::uint64_t digest_of(std::string_view bytes);

// What a source holds, as far as it is asked for.
struct HeldBlocks {
  std::vector<HeldBlock> starts;  // of bodies, in the order of the source
  // Some of those that stand behind this one; none: it is the last.
  std::function<std::vector<HeldBlock>(std::int64_t batch)> after;
};

HeldBlocks held_blocks(Store& store, const std::string& job, const std::string& source);

class ResendFilter {
 public:
  explicit ResendFilter(HeldBlocks held);

  // What is new of the bytes so far and was not returned yet; valid until the next call.
  std::string_view feed(std::string_view bytes);

  // The body is complete. A rest that is no whole block is new, also if a block begins like it:
  // logs of two attempts begin with the same banner, and what is lost is worse than what comes
  // twice.
  std::string_view finish();

  // The body is of a form that means nothing in part: a shorter one is another one, not the
  // beginning of one that grew.
  void expect_whole_bodies() { whole_bodies_ = true; }

  // The sender has paused. Bytes too few to be recognised are new if it has for long: a stream that
  // has just begun must not wait unseen, and a slow sender that begins again must not be taken for
  // one.
  std::string_view settle(bool for_long);

  // True once all further bytes are new; feed() then costs nothing.
  bool passes_all() const { return passes_all_; }

  std::uint64_t duplicate_bytes() const { return duplicate_bytes_; }

  // Whether the new bytes go on where the source ends, rather than begin a body or a branch of one.
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
  std::vector<HeldBlock> window_;      // blocks from the one that was asked for last
  std::vector<Candidate> candidates_;  // what the next bytes may be, longest block first
  std::set<std::int64_t> matched_;     // batches
  std::optional<HeldBlock> last_matched_;
  std::optional<HeldBlock> next_;  // behind it
  std::string buffer_;             // held back; from start_ on undecided
  std::size_t start_ = 0;
  std::uint64_t skipping_ = 0;  // bytes of an overlong line still to pass over
  std::uint64_t duplicate_bytes_ = 0;
  bool passes_all_ = false;
  bool whole_bodies_ = false;
};

}  // namespace faultline
