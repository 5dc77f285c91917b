// Reader: the bytes of one source become batches. This is the hot path; start reading the pipeline
// here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "ingest/kept_lines.h"
#include "ingest/noteworthy.h"
#include "model/batch.h"
#include "model/time.h"

namespace faultline {

// Where reading a source stands; what is needed to go on after a restart.
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

  // Stamps without a year get that of the dated lines before them, else the last in which they lie
  // before `received`.
  Reader(const Cursor& cursor, Timestamp received,
         std::shared_ptr<const Noteworthy> noteworthy = nullptr);
  ~Reader();
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;

  // The sender knows when the host started: its kernel's stamps can be turned into times.
  void set_boot_time(Timestamp boot_time);

  void feed(std::string_view bytes);

  // The sender has no more for now: all that was fed is held from now on. What is not complete, a
  // line or a dump, is neither told nor counted until it is, or until close(); so the bytes may
  // come in bodies that are cut anywhere, and tell the same.
  void finish();

  // Nothing will follow: a last line without a newline is read if it makes sense as it stands, and
  // so is all else that waits for more.
  void close();

  // What comes next is another file, which does not go on with what the one before broke off in.
  void begin_file();

  // The sender has paused: a warning that the next line could go on with is told as it stands.
  void settle();

  // From now on, what is read is kept to be read again: ingest/kept_lines.h.
  void keep_lines();
  bool keeps_lines() const;
  // What was kept since it was taken last. Belongs to the batch that was taken just now.
  std::string take_kept_lines();
  bool has_kept_only_calls() const;

  // For who reads kept lines again: there are no dumps and no traces in what is fed.
  void read_lines_only();
  bool is_within_a_line() const;
  // So many calls stood here; or something that is not read again.
  void pass_calls(LineSpan calls);
  void pass(LineSpan others);
  // A whole line without its newline; with it, and with what is hidden now, it was so long.
  void feed_hidden_line(std::string_view line, std::uint64_t bytes);

  // Bytes fed since the last take(), as a measure of when to take.
  std::uint64_t pending_bytes() const;
  // The same of events: weight_of().
  std::uint64_t pending_weight() const;

  // What was read since the last take, of what is complete. (After finish() it covers all bytes.)
  Batch take();

  // What close() would tell besides, after everything taken.
  Batch rest() const;

  // Where reading stands after everything taken. Belongs beside the last batch taken.
  Cursor cursor() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace faultline
