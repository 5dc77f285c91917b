// FileStream: turns the bytes that one body brings for one source into durable batches.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/block_reader.h"
#include "ingest/hints.h"
#include "service/commit_tracker.h"
#include "service/live_jobs.h"
#include "service/recent_lines.h"
#include "service/resend_filter.h"
#include "service/unanswered_pushes.h"

namespace faultline {

// What became of one file, for the sender.
struct FileReceipt {
  std::string source;
  std::uint64_t bytes = 0;            // received, decompressed
  std::uint64_t duplicate_bytes = 0;  // of them, held already
  std::uint64_t lines = 0;
  std::uint64_t recognized = 0;
  std::uint64_t skipped = 0;
  std::uint64_t facts = 0;
  std::uint64_t next_offset = 0;  // valid once its commits are durable
  std::map<std::string, std::uint64_t> dialects;
  std::vector<std::string> refused;  // why a dump in it was not read
  std::vector<std::string> hints;    // what is wrong with it, and what to do
  // The last block of the source, for a sender that begins at offset 0 again: so it can tell
  // whether what the server has is the beginning of what it would send.
  std::optional<Fingerprint> last_block;
};

// Where the bytes of a body belong in their source.
struct BodyStart {
  std::optional<std::uint64_t> offset;  // where they begin, if the sender said it
  // They follow what came last, unless they are held already: messages that a shipper pushed, each
  // in whole lines. They count as sent again if the body is one of the last kComparedBodies, or by
  // RecentLines. Feed the body as one piece.
  bool appends = false;
  // It brings blocks that the sender's reader made, and no bytes of the log.
  bool is_read = false;
  // These blocks are taken even if that reader remembers other lines than the server holds: the
  // sender does not have the lines any more.
  bool whatever_came_before = false;
};
inline constexpr std::size_t kComparedBodies = 256;

class FileStream {
 public:
  // Reads the store.
  FileStream(Source source, BodyStart start, Store& store, LiveJobs& jobs,
             std::shared_ptr<CommitTracker> tracker, std::shared_ptr<SourceLease> lease,
             std::optional<Timestamp> boot_time = std::nullopt);

  // False: the sender's offset lies beyond what is held (next_offset()); feed nothing.
  bool offset_fits() const { return !start_.offset || *start_.offset <= position_.offset; }

  void feed(std::string_view bytes);

  // The next block of a body that is read already (ingest/block_bytes.h). What is held is skipped.
  // invalid_input: it cannot be read; conflict: it does not follow what is held, and the sender
  // has to read its log again from next_offset(). Then nothing may follow but end().
  Result<void> take_block(std::string_view block);
  // No more blocks come. Call it before end().
  Result<void> end_blocks(bool complete);

  // The body cannot be read; `hint` says why. Nothing is kept, and the source stays as it was. Only
  // end() may follow.
  void refuse(std::uint64_t bytes, std::string_view hint);

  // The sender has paused: what is complete so far becomes durable.
  void flush(bool for_long);

  // No more bytes come. `complete`: the file came whole; otherwise a last line without a newline
  // waits for its rest. `final`: nothing will ever follow.
  void end(bool complete, bool final);

  bool pending() const;
  // Whether so many lines were read without one of a known form that reading on is a waste.
  bool says_nothing() const;
  std::uint64_t weight() const { return weight_; }  // of its events: weight_of()
  // What follows once the events weigh more is not read.
  void limit_weight(std::uint64_t most) { most_weight_ = most; }
  bool too_heavy() const { return weight_ > most_weight_; }
  // Of what waits in memory for its rest.
  std::size_t held_bytes() const;
  bool lease_lost() const { return lease_->lost(); }
  std::uint64_t next_offset() const { return position_.offset; }
  FileReceipt receipt() const;
  // For whoever tells the sender of an appended body that it is stored.
  std::optional<UnansweredPushes::Push> take_push() { return std::exchange(push_, std::nullopt); }

 private:
  std::size_t pushed_before(std::string_view body);
  void read(std::string_view bytes);
  void open_reader();
  void begin_reader();
  void commit_block(bool everything, bool final);
  Result<void> commit_held_block(bool more_follows);
  void commit(ReadBlock block, bool final);
  void end_source(bool complete, bool final);
  void add_hints(bool final);

  Source source_;
  BodyStart start_;
  std::optional<Timestamp> boot_time_;
  LiveJobs& jobs_;
  std::shared_ptr<CommitTracker> tracker_;
  std::shared_ptr<SourceLease> lease_;

  SourcePosition position_;
  std::uint64_t skip_ = 0;  // bytes of the body that the sender's offset says are held
  std::optional<ResendFilter> filter_;
  std::optional<RecentLines> recent_;           // of a source that is appended to
  std::optional<UnansweredPushes::Push> push_;  // likewise
  std::optional<BlockReader> blocks_;
  std::optional<std::string>
      held_block_;         // whether it is the last is known only when the next comes
  bool told_end_ = false;  // the last block says how the source stands
  bool starts_body_ = true;
  BodyLook look_;
  bool unreadable_ = false;
  std::uint64_t weight_ = 0;
  std::uint64_t most_weight_ = UINT64_MAX;
  // An unfinished report at the end of a body is stored only when it is complete. If the body is
  // a file, its receipt counts that report all the same (rest_). told_before_ is what the
  // receipt of the body before counted in this way.
  bool tells_rest() const { return !start_.offset && !start_.appends; }
  Batch rest_;
  FileReceipt told_before_;
  bool known_before_ = false;  // something of the source was recognized before this body
  FileReceipt receipt_;
};

}  // namespace faultline
