#include "ingest/reader.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "ingest/block_check.h"
#include "ingest/dump_body.h"
#include "ingest/line_reader.h"
#include "ingest/source_keeper.h"
#include "ingest/trace_body.h"

namespace faultline {
namespace {

// The carry: a byte of flags, the unfinished line with its length, then what the wrappers remember.
// Inside a document, the wrappers' part has its length in front, and the document's part follows.
// An open warning, with its length, stands before both. Inside a dump or a trace, what has come or
// is remembered of it stands in place of the unfinished line, and nothing follows.
constexpr unsigned char kDiscarding = 1;
constexpr unsigned char kTailCounted = 2;
constexpr unsigned char kTailRead = 4;
constexpr unsigned char kInDocument = 8;
constexpr unsigned char kInDump = 16;
constexpr unsigned char kPassingOver = 32;
constexpr unsigned char kTailRecognized = 64;
constexpr unsigned char kInWarning = 128;
constexpr unsigned char kInTrace = kInDump | kInDocument;
// These parts may stand in front of the carry, each with its own flags and length. The last of
// them: what is known of rows into which lines were broken.
constexpr unsigned char kRows = kInDump | kPassingOver;
// Before it: the length of the last line, on which facts at the end of the source are placed.
constexpr unsigned char kLastLine = kRows | kDiscarding;
// In front of all, also inside a dump: the forms of unread lines that were kept.
constexpr unsigned char kUnread = kRows | kTailCounted;
// Behind that, an open secret. Empty: inside a private key; else the name of a setting whose value
// has not come yet.
constexpr unsigned char kInSecret = kRows | kTailRead;

// The most of an unfinished dump or trace that is kept over a restart, to wait for its rest.
constexpr std::size_t kMaxCarriedDump = std::size_t{16} << 20;

void append_length(std::string& out, std::uint64_t length) {
  for (int shift = 0; shift < 64; shift += 8)
    out.push_back(static_cast<char>(length >> shift & 255));
}

std::uint64_t read_length(std::string_view bytes) {
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < 8; ++i)
    length |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return length;
}

// Takes the part with these flags from the front of the carry; empty: there is none.
std::string_view take_front(std::string_view& carry, unsigned char flags) {
  if (carry.size() < 9 || static_cast<unsigned char>(carry[0]) != flags) return {};
  const std::string_view alone = carry.substr(9, read_length(carry.substr(1)));
  carry.remove_prefix(9 + alone.size());
  return alone;
}

}  // namespace

// In the order of Reader::Impl::restore().
bool carries_only_lines(std::string_view carry) {
  for (const unsigned char part : {kUnread, kInSecret, kLastLine, kRows}) take_front(carry, part);
  if (carry.size() < 9) return true;
  const auto flags = static_cast<unsigned char>(carry[0]);
  return (flags & (kInDump | kPassingOver | kInDocument | kInWarning)) == 0;
}

class Reader::Impl {
 public:
  Impl(const Cursor& cursor, Timestamp received, std::shared_ptr<const Noteworthy> noteworthy)
      : received_(received),
        noteworthy_(std::move(noteworthy)),
        line_reader_(received, noteworthy_),
        line_start_(cursor.offset),
        taken_(cursor.offset),
        lines_(cursor.lines),
        at_beginning_(cursor.offset == 0 && cursor.carry.empty()) {
    restore(cursor.carry);
    begin_batch();
  }

  void set_boot_time(Timestamp boot_time) {
    line_reader_.set_boot_time(boot_time);
    if (keeper_) keeper_->set_boot_time(boot_time);
  }

  void keep_lines() { keeper_.emplace(line_reader_, received_, taken_, is_within_a_line()); }
  bool is_within_a_line() const { return !tail_.empty(); }
  bool keeps_lines() const { return keeper_.has_value(); }
  std::string take_kept_lines() { return keeper_ ? keeper_->take() : std::string(); }
  bool has_kept_only_calls() const { return keeper_ && keeper_->has_only_calls(); }

  void read_lines_only() { lines_only_ = true; }
  bool reads_lines() const { return !at_beginning_; }

  void pass_calls(LineSpan calls) {
    line_reader_.pass_calls(calls.lines);
    move_on(calls);
  }

  void pass(LineSpan others) {
    line_reader_.pass_others();
    move_on(others);
  }

  void feed_hidden_line(std::string_view line, std::uint64_t bytes) {
    feed(line);
    feed("\n");
    line_start_ += bytes - (line.size() + 1);  // it may have been longer or shorter
  }

  void feed(std::string_view bytes) {
    std::string held;
    while (!bytes.empty()) {
      finished_ = false;
      if (lines_only_) return feed_lines(bytes);
      const bool may_be_trace = at_beginning_ && !dump_.open() && TraceBody::may_begin(bytes);
      if (!trace_.open() && !may_be_trace) return feed_others(bytes);
      TraceBody::Step step = trace_.feed(bytes);
      if (step.what == TraceBody::What::text) return feed_others(step.rest);
      if (step.what != TraceBody::What::trace) return;
      keep_trace(step);
      bytes.remove_prefix(bytes.size() - step.unread);
      if (step.rest.empty()) continue;
      held = std::move(step.rest);
      bytes = held;
    }
  }

  void feed_others(std::string_view bytes) {
    if (at_beginning_ && (dump_.open() || DumpBody::may_begin(bytes)))
      feed_dump(bytes);
    else
      feed_lines(bytes);
  }

  void feed_lines(std::string_view bytes) {
    at_beginning_ = false;
    if (!tail_.empty() || discarding_) bytes = complete_tail(bytes);
    while (!bytes.empty()) {
      if (bytes.front() == '\n' && line_reader_.ignores_blank_lines()) {
        bytes.remove_prefix(pass_blank_lines(bytes));
        continue;
      }
      const void* newline = std::memchr(bytes.data(), '\n', bytes.size());
      if (newline == nullptr) break;
      auto length = static_cast<std::size_t>(static_cast<const char*>(newline) - bytes.data());
      whole_line(bytes.substr(0, length));
      line_start_ += length + 1;
      bytes.remove_prefix(length + 1);
    }
    line_reader_.keep_texts();
    keep_tail(bytes);
  }

  void finish() {
    finish_dumps();
    keep_unfinished(lines_);
    if (keeper_) keeper_->finish();
  }

  void close() {
    const std::uint64_t lines_before = lines_;
    read_to_the_end();
    keep_unfinished(lines_before);
    if (keeper_) keeper_->close();
  }

  void begin_file() {
    const std::uint64_t lines_before = lines_;
    read_to_the_end();
    keep_unfinished(lines_before);
    if (keeper_) keeper_->begin_file();
    batch().end = SourceEnd::open;
    line_start_ = readable();
    dump_ = DumpBody();
    trace_ = TraceBody();
    leave_tail();
    dump_counted_ = dump_read_ = finished_ = false;
    at_beginning_ = true;
    line_reader_.begin_file();
  }

  void settle() {
    line_reader_.settle();
    if (keeper_) keeper_->settle();
  }

  Batch rest() const {
    Impl others(cursor(), received_, noteworthy_);
    others.read_to_the_end();
    return others.take();
  }

  void finish_dumps() {
    finished_ = true;
    read_dumps(false, true);
    batch().end = end_so_far();
    if (dump_.size() > kMaxCarriedDump) read_dumps(true, true);
    if (!trace_.open()) return;
    saved_trace_ = trace_.save();
    if (saved_trace_.size() > kMaxCarriedDump) finish_trace();
  }

  void read_to_the_end() {
    batch().end = read_all();
    if (batch().end == SourceEnd::whole) batch().end = SourceEnd::closed;
    // The last piece is placed on the last line, which may belong to an earlier batch.
    batch().first_line = std::min(batch().first_line, lines_);
    line_reader_.close({lines_, last_line_start_, {}});
    line_reader_.keep_texts();
  }

  std::uint64_t pending_bytes() const { return readable() - taken_; }
  std::uint64_t pending_weight() const { return line_reader_.weight(); }

  std::size_t held_bytes() const {
    return dump_.size() + trace_.held_bytes() + tail_.size() + saved_trace_.size();
  }

  Batch take() {
    taken_ = batch().to_offset = readable();
    Batch taken = line_reader_.take();
    begin_batch();
    return taken;
  }

  Cursor cursor() const {
    Cursor cursor{taken_, lines_, {}};
    const std::string unread = line_reader_.unread().save();
    if (!unread.empty()) cursor.carry = carried(kUnread, unread);
    if (const OpenSecret& open = line_reader_.open_secret(); !open.empty())
      cursor.carry += carried(kInSecret, open.in_key ? std::string_view() : open.setting);
    // Bytes of the unfinished line that were already taken; those after them will come again.
    std::uint64_t of_tail = taken_ > line_start_ ? taken_ - line_start_ : 0;
    if (at_beginning_ || dump_.open()) {
      if (of_tail > 0 && trace_.open())
        cursor.carry += carried(kInTrace, saved_trace_);
      else if (taken_ > 0)
        cursor.carry += saved_dump(of_tail);
      return cursor;
    }
    const LineReader::Memory memory = line_reader_.save();
    if (of_tail == 0 && !discarding_ && memory.empty()) return cursor;
    unsigned char flags = 0;
    if (of_tail > 0 && discarding_) flags |= kDiscarding;
    if (of_tail > 0 && tail_counted_) flags |= kTailCounted;
    if (of_tail > 0 && tail_read_) flags |= kTailRead;
    if (of_tail > 0 && tail_recognized_) flags |= kTailRecognized;
    if (!memory.document.empty()) flags |= kInDocument;
    if (!memory.warning.empty()) flags |= kInWarning;
    std::string last_line;
    append_length(last_line, line_start_ - std::min(last_line_start_, line_start_));
    cursor.carry += carried(kLastLine, last_line);
    if (!memory.rows.empty()) cursor.carry += carried(kRows, memory.rows);
    cursor.carry +=
        carried(flags, line_reader_.without_secrets(std::string_view(tail_).substr(0, of_tail)));
    if (!memory.warning.empty()) append_length(cursor.carry, memory.warning.size());
    cursor.carry += memory.warning;
    if (!memory.document.empty()) append_length(cursor.carry, memory.wrapping.size());
    cursor.carry += memory.wrapping;
    cursor.carry += memory.document;
    return cursor;
  }

 private:
  Batch& batch() { return line_reader_.batch(); }

  void move_on(LineSpan span) {
    at_beginning_ = finished_ = false;
    lines_ += span.lines;
    batch().lines += span.lines;
    line_start_ += tail_.size() + discarded_ + span.bytes;
    leave_tail();
  }

  void pass_unkept(std::uint64_t lines, std::uint64_t end) {
    if (keeper_) keeper_->pass(lines, end);
  }

  // What is held of something unfinished belongs to the batch that ends here.
  void keep_unfinished(std::uint64_t lines_before) {
    if (keeper_)
      keeper_->unfinished(line_start_, tail_, readable(), lines_ - lines_before, tail_counted_);
  }

  static std::string carried(unsigned char flags, std::string_view text) {
    std::string carry(1, static_cast<char>(flags));
    append_length(carry, text.size());
    return carry.append(text);
  }

  // Reads all that is there, because nothing follows. Returns how the source ended.
  SourceEnd read_all() {
    finished_ = true;
    if (trace_.open() && !finish_trace()) return SourceEnd::torn;
    read_dumps(true, true);
    if (dump_.size() > 0) return SourceEnd::torn;
    if (tail_.empty() && !discarding_) return end_behind_all();
    if (!tail_counted_) count_line();
    tail_counted_ = true;
    if (!tail_read_ && !discarding_) tail_read_ = read_tail(LineEnd::lost).told;
    line_reader_.keep_texts();
    return tail_read_ ? SourceEnd::whole : SourceEnd::torn;
  }

  // The end if nothing is unfinished. Behind a complete dump, the source counts as closed.
  SourceEnd end_behind_all() const {
    return at_beginning_ && lines_ > 0 ? SourceEnd::closed : SourceEnd::whole;
  }

  // The end of a source that may still go on.
  SourceEnd end_so_far() const {
    if (trace_.open() && !trace_.decided())
      return is_complete_text() ? SourceEnd::whole : SourceEnd::torn;
    if (trace_.open() || dump_.size() > 0) return SourceEnd::torn;
    if (tail_.empty() && !discarding_) return end_behind_all();
    return tail_read_ || tail_makes_sense() ? SourceEnd::whole : SourceEnd::torn;
  }

  // Whether what may still turn out to be a trace is complete lines if nothing follows.
  bool is_complete_text() const {
    Impl others(Cursor{}, received_, noteworthy_);
    others.trace_.restore(trace_.save());
    return others.read_all() != SourceEnd::torn;
  }

  bool tail_makes_sense() const {
    if (discarding_) return false;
    LineReader other(received_, noteworthy_);
    const LineReader::Memory memory = line_reader_.save();
    other.restore(memory);
    return other.read({lines_ + 1, line_start_, tail_}, LineEnd::missing, false).told;
  }

  void restore(std::string_view carry) {
    LineReader::Memory memory;
    line_reader_.unread().restore(take_front(carry, kUnread));
    if (!carry.empty() && static_cast<unsigned char>(carry[0]) == kInSecret) {
      const std::string_view setting = take_front(carry, kInSecret);
      line_reader_.go_on_with({.in_key = setting.empty(), .setting = std::string(setting)});
    }
    const std::string_view last_line = take_front(carry, kLastLine);
    memory.rows = take_front(carry, kRows);
    if (carry.size() < 9) {
      if (line_start_ > 0) line_reader_.restore(memory);
      return;
    }
    auto flags = static_cast<unsigned char>(carry[0]);
    std::uint64_t length = read_length(carry.substr(1));
    carry.remove_prefix(9);
    if (length > carry.size()) return;
    if ((flags & (kInDump | kPassingOver)) != 0) {
      at_beginning_ = true;
      if ((flags & kInTrace) == kInTrace)
        restore_trace(carry.substr(0, length));
      else
        restore_dump(flags, carry.substr(0, length));
      return;
    }
    tail_ = carry.substr(0, length);
    discarding_ = flags & kDiscarding;
    tail_counted_ = flags & kTailCounted;
    tail_read_ = flags & kTailRead;
    tail_recognized_ = flags & kTailRecognized;
    carry.remove_prefix(length);
    if ((flags & kInWarning) != 0) {
      if (carry.size() < 8 || read_length(carry) > carry.size() - 8) return;
      memory.warning = carry.substr(8, read_length(carry));
      carry.remove_prefix(8 + memory.warning.size());
    }
    std::uint64_t wrapping = carry.size();
    if ((flags & kInDocument) != 0) {
      wrapping = carry.size() < 8 ? UINT64_MAX : read_length(carry);
      carry.remove_prefix(std::min<std::size_t>(8, carry.size()));
    }
    wrapping = std::min<std::uint64_t>(wrapping, carry.size());
    memory.wrapping = carry.substr(0, wrapping);
    memory.document = carry.substr(wrapping);
    line_reader_.restore(memory);
    // Of a line too long to keep, the carry only says that it has begun.
    if (discarding_) discarded_ = 1;
    line_start_ -= std::min<std::uint64_t>(tail_.size() + discarded_, line_start_);
    if (last_line.size() == 8)
      last_line_start_ = line_start_ - std::min(read_length(last_line), line_start_);
  }

  // Everything up to here is in the batch being filled, or in an earlier one.
  std::uint64_t readable() const {
    return finished_ ? line_start_ + trace_.size() + dump_.size() + tail_.size() + discarded_
                     : std::max(line_start_, taken_);
  }

  void begin_batch() {
    batch().from_offset = batch().to_offset = taken_;
    batch().first_line = tail_counted_ || dump_counted_ ? lines_ : lines_ + 1;
  }

  void count_line() {
    ++lines_;
    ++batch().lines;
  }

  // False: the trace breaks off; what may follow later means nothing without its beginning.
  bool finish_trace() {
    while (trace_.open()) {
      TraceBody::Step step = trace_.finish();
      if (step.what == TraceBody::What::text) feed_others(step.rest);
      if (step.what != TraceBody::What::text) keep_trace(step);
      if (step.what == TraceBody::What::trace) feed(step.rest);
      finished_ = true;
      if (step.what != TraceBody::What::broken_off) continue;
      dump_.pass_over();
      return false;
    }
    return true;
  }

  // A trace counts as one line.
  void keep_trace(TraceBody::Step& step) {
    count_line();
    ++batch().dialects["torch-profiler"];
    ++batch().recognized;
    line_reader_.keep(step.facts, lines_, line_start_);
    line_start_ += step.size;
    pass_unkept(1, line_start_);
  }

  void feed_dump(std::string_view bytes) {
    if (dump_.passes_over()) {
      line_start_ += bytes.size();
      pass_unkept(0, line_start_);
      return;
    }
    dump_.add(bytes);
    dump_read_ = false;
    read_dumps(false, false);
  }

  // What is held becomes facts, or turns out to be lines. See DumpBody::next.
  void read_dumps(bool all, bool now) {
    using What = DumpBody::Step::What;
    while (dump_.size() > 0 && !dump_read_) {
      DumpBody::Step step = dump_.next(all, now);
      if (step.what == What::wait) return;
      if (step.what == What::text) {
        const std::string text = dump_.take();
        feed_lines(text);
        return;
      }
      const std::uint64_t lines_before = lines_;
      keep_dump(step.facts);
      if (step.what == What::dump) {
        line_start_ += step.bytes;
        dump_.drop(step.bytes);
        dump_counted_ = false;
        pass_unkept(lines_ - lines_before, line_start_);
      } else if (step.what == What::broken_off && dump_.size() <= kMaxCarriedDump) {
        dump_read_ = true;
        pass_unkept(lines_ - lines_before, line_start_ + dump_.size());
      } else {
        line_start_ += dump_.size();
        dump_.pass_over();
        pass_unkept(lines_ - lines_before, line_start_);
      }
    }
  }

  // A dump counts as one line.
  void keep_dump(std::vector<DumpedFact>& facts) {
    if (!std::exchange(dump_counted_, true)) {
      count_line();
      if (!std::get<FlightRecorderDump>(facts.front().fact).refused.empty()) {
        ++batch().skipped;
      } else {
        ++batch().dialects["flight-recorder"];
        ++batch().recognized;
      }
    }
    line_reader_.keep(facts, lines_, line_start_);
  }

  std::string saved_dump(std::uint64_t length) const {
    unsigned char flags = dump_.passes_over() ? kPassingOver : kInDump;
    if (dump_counted_) flags |= kTailCounted;
    if (dump_read_) flags |= kTailRead;
    const std::string_view held = std::string_view(dump_.held()).substr(0, length);
    // Not in a pickle: there, no quotation mark shows where a secret ends.
    const bool is_json = held.find_first_of("{[") == held.find_first_not_of(" \t\r\n");
    return is_json ? carried(flags, line_reader_.without_secrets(held)) : carried(flags, held);
  }

  void restore_trace(std::string_view saved) {
    trace_.restore(saved);
    saved_trace_ = saved;
    line_start_ -= std::min(trace_.size(), line_start_);
  }

  void restore_dump(unsigned char flags, std::string_view held) {
    dump_.add(held);
    if ((flags & kPassingOver) != 0) dump_.pass_over();
    dump_counted_ = flags & kTailCounted;
    dump_read_ = flags & kTailRead;
    line_start_ -= std::min<std::uint64_t>(held.size(), line_start_);
  }

  // The beginning of a line came earlier: adds the rest of the line, returns what follows it.
  std::string_view complete_tail(std::string_view bytes) {
    std::size_t newline = bytes.find('\n');
    if (newline == std::string_view::npos) {
      keep_tail(bytes);
      return {};
    }
    keep_tail(bytes.substr(0, newline));
    if (!tail_counted_) count_line();
    if (discarding_) {
      ++batch().skipped;
      pass_unkept(tail_counted_ ? 0 : 1, line_start_ + tail_.size() + discarded_ + 1);
    } else {
      LineReader::Read read;
      if (!tail_read_) read = read_tail(LineEnd::there);
      if (keeper_) keeper_->line(line_start_, tail_, read, tail_counted_);
      line_reader_.keep_texts();  // before the tail's bytes go
    }
    line_start_ += tail_.size() + discarded_ + 1;
    leave_tail();
    return bytes.substr(newline + 1);
  }

  void leave_tail() {
    tail_.clear();
    discarded_ = 0;
    discarding_ = tail_counted_ = tail_read_ = tail_recognized_ = false;
  }

  void keep_tail(std::string_view bytes) {
    if (!discarding_ && tail_.size() + bytes.size() <= kMaxLineBytes) {
      tail_.append(bytes);
      return;
    }
    discarding_ = true;
    discarded_ += tail_.size() + bytes.size();
    tail_ = std::string();
  }

  // Passes over blank lines at once: megabytes of them compress to nothing, so reading them must
  // cost next to nothing.
  std::size_t pass_blank_lines(std::string_view bytes) {
    const std::size_t count = std::min(bytes.find_first_not_of('\n'), bytes.size());
    lines_ += count;
    batch().lines += count;
    if (keeper_) keeper_->blank(line_start_, count);
    line_start_ += count;
    last_line_start_ = line_start_ - 1;
    return count;
  }

  void whole_line(std::string_view line) {
    count_line();
    if (line.size() > kMaxLineBytes) {
      ++batch().skipped;
      pass_unkept(1, line_start_ + line.size() + 1);
      return;
    }
    const LineReader::Read read = read_line(line, LineEnd::there, false);
    if (keeper_) keeper_->line(line_start_, line, read, tail_counted_);
  }

  LineReader::Read read_tail(LineEnd end) {
    const LineReader::Read read = read_line(tail_, end, tail_recognized_);
    tail_recognized_ = read.counted;
    return read;
  }

  LineReader::Read read_line(std::string_view line, LineEnd end, bool counted) {
    last_line_start_ = line_start_;
    return line_reader_.read({lines_, line_start_, line}, end, counted);
  }

  Timestamp received_;
  std::shared_ptr<const Noteworthy> noteworthy_;
  LineReader line_reader_;
  DumpBody dump_;
  TraceBody trace_;
  std::string saved_trace_;  // as of the end of the last body

  std::uint64_t line_start_;           // offset of the first byte of the line being read
  std::uint64_t last_line_start_ = 0;  // of the last line that was read
  std::uint64_t taken_;          // everything before this offset is in batches that were taken
  std::uint64_t lines_;          // counted so far
  std::string tail_;             // the line being read, as far as it has come
  std::uint64_t discarded_ = 0;  // bytes of it, if it is too long to keep
  bool discarding_ = false;
  bool tail_counted_ = false;
  bool tail_read_ = false;
  bool tail_recognized_ = false;
  bool finished_ = false;
  bool at_beginning_ = true;  // of a file, or behind a dump
  bool lines_only_ = false;
  std::optional<SourceKeeper> keeper_;
  bool dump_counted_ = false;  // the dump in hand was counted as a line
  bool dump_read_ = false;     // all that has come of it was read
};

Reader::Reader(const Cursor& cursor, Timestamp received,
               std::shared_ptr<const Noteworthy> noteworthy)
    : impl_(std::make_unique<Impl>(cursor, received, std::move(noteworthy))) {}
Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;

void Reader::set_boot_time(Timestamp boot_time) { impl_->set_boot_time(boot_time); }
void Reader::feed(std::string_view bytes) { impl_->feed(bytes); }
void Reader::finish() { impl_->finish(); }
void Reader::close() { impl_->close(); }
void Reader::begin_file() { impl_->begin_file(); }
void Reader::settle() { impl_->settle(); }
void Reader::keep_lines() { impl_->keep_lines(); }
bool Reader::keeps_lines() const { return impl_->keeps_lines(); }
std::string Reader::take_kept_lines() { return impl_->take_kept_lines(); }
bool Reader::has_kept_only_calls() const { return impl_->has_kept_only_calls(); }
bool Reader::reads_lines() const { return impl_->reads_lines(); }
bool Reader::is_within_a_line() const { return impl_->is_within_a_line(); }
void Reader::read_lines_only() { impl_->read_lines_only(); }
void Reader::pass_calls(LineSpan calls) { impl_->pass_calls(calls); }
void Reader::pass(LineSpan others) { impl_->pass(others); }
void Reader::feed_hidden_line(std::string_view line, std::uint64_t bytes) {
  impl_->feed_hidden_line(line, bytes);
}
std::uint64_t Reader::pending_bytes() const { return impl_->pending_bytes(); }
std::size_t Reader::held_bytes() const { return impl_->held_bytes(); }
std::uint64_t Reader::pending_weight() const { return impl_->pending_weight(); }
Batch Reader::take() { return impl_->take(); }
Batch Reader::rest() const { return impl_->rest(); }
Cursor Reader::cursor() const { return impl_->cursor(); }

}  // namespace faultline
