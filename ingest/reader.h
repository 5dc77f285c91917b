// Reader: turns the bytes of one source into batches. This is the hot path. To learn how a line is
// read, start here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "ingest/kept_lines.h"
#include "model/batch.h"
#include "model/noteworthy.h"
#include "model/time.h"

namespace faultline {

// Where reading a source stands: all that is needed to go on after a restart.
struct Cursor {
  std::uint64_t offset = 0;  // of the next byte to read
  std::uint64_t lines = 0;   // complete lines before it
  // What came and waits for more: the unfinished last line, and what wrappers, documents, dumps and
  // traces were in the middle of. Opaque; often empty.
  std::string carry;
  bool operator==(const Cursor&) const = default;
};

class Reader {
 public:
  // A line longer than this is counted and skipped, so that a stream without newlines cannot eat
  // the memory.
  static constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;

  // A stamp without a year gets the year of the dated lines before it, else the latest year in
  // which it lies before `received`.
  Reader(const Cursor& cursor, Timestamp received,
         std::shared_ptr<const Noteworthy> noteworthy = nullptr);
  ~Reader();
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;

  // When the host started, as the sender knows it: so the kernel's stamps can be turned into times.
  void set_boot_time(Timestamp boot_time);

  void feed(std::string_view bytes);

  // The sender has no more for now: the next batch and cursor cover all that was fed. A line or
  // dump that is not complete gives nothing and is not counted until it is complete, or until
  // close(). So bodies may be cut anywhere, and give the same.
  void finish();

  // Nothing will follow: a last line without a newline is read if it makes sense as it stands, and
  // so is all else that waits for more.
  void close();

  // The next bytes are another file, which does not continue what the file before left unfinished.
  void begin_file();

  // The sender has paused: a warning that the next line could continue is complete as it stands.
  void settle();

  // From now on, what is read is kept to be read again: ingest/kept_lines.h.
  void keep_lines();
  bool keeps_lines() const;
  // What was kept since the last call. Belongs to the batch that was just taken.
  std::string take_kept_lines();
  bool has_kept_only_calls() const;

  // For reading kept lines again: there are no dumps and no traces in what is fed.
  void read_lines_only();
  bool is_within_a_line() const;
  // Passes over calls, or over something that is not read again.
  void pass_calls(LineSpan calls);
  void pass(LineSpan others);
  // Feeds a whole line, without its newline, whose secrets are hidden. `bytes`: its original length
  // with the newline.
  void feed_hidden_line(std::string_view line, std::uint64_t bytes);

  // What was fed last was read as lines: it is no dump and no trace, nor may it become one.
  bool reads_lines() const;

  // Bytes fed since the last take(), as a measure of when to take.
  std::uint64_t pending_bytes() const;
  // The weight of the events since then: weight_of().
  std::uint64_t pending_weight() const;

  // How much of a dump or trace, or of the unfinished line, is held until its rest comes.
  std::size_t held_bytes() const;

  // Everything complete that was read since the last take(). (After finish() it covers all bytes.)
  Batch take();

  // What close() would add to everything that was taken.
  Batch rest() const;

  // Where reading stands after everything that was taken. Store it with the last batch taken.
  Cursor cursor() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace faultline
