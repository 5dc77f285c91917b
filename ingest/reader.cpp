#include "ingest/reader.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "ingest/call_collector.h"
#include "ingest/documents.h"
#include "ingest/unwrap.h"
#include "parsers/nccl_call.h"
#include "parsers/nccl_line.h"
#include "parsers/parser.h"

namespace faultline {
namespace {

// The carry: a byte of flags, the unfinished line with its length, then the wrappers' own memory;
// inside a document that too with its length, and then the document's.
constexpr unsigned char kDiscarding = 1;
constexpr unsigned char kTailCounted = 2;
constexpr unsigned char kTailRead = 4;
constexpr unsigned char kInDocument = 8;

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

}  // namespace

class Reader::Impl {
 public:
  Impl(const Cursor& cursor, Timestamp reference, std::shared_ptr<const Noteworthy> noteworthy)
      : noteworthy_(std::move(noteworthy)),
        unwrapper_(reference),
        line_start_(cursor.offset),
        taken_(cursor.offset),
        lines_(cursor.lines) {
    restore(cursor.carry);
    begin_batch();
  }

  void feed(std::string_view bytes) {
    finished_ = false;
    if (!tail_.empty() || discarding_) bytes = complete_tail(bytes);
    while (!bytes.empty()) {
      const void* newline = std::memchr(bytes.data(), '\n', bytes.size());
      if (newline == nullptr) break;
      auto length = static_cast<std::size_t>(static_cast<const char*>(newline) - bytes.data());
      whole_line(bytes.substr(0, length));
      line_start_ += length + 1;
      bytes.remove_prefix(length + 1);
    }
    calls_.keep_texts(batch_);
    keep_tail(bytes);
  }

  void finish() {
    finished_ = true;
    batch_.end = SourceEnd::whole;
    if (tail_.empty() && !discarding_) return;
    if (!tail_counted_) count_line();
    tail_counted_ = true;
    // Documents wait for the whole line: one that was cut off may say something else.
    documents_wait_ = true;
    withheld_ = false;
    if (!tail_read_ && !discarding_) tail_read_ = read_line(tail_, lines_);
    documents_wait_ = false;
    if (!tail_read_) batch_.end = SourceEnd::torn;
    calls_.keep_texts(batch_);
  }

  void close() {
    finish();
    // What stands there is all there is of the document's last line.
    if (std::exchange(withheld_, false)) tail_read_ = read_line(tail_, lines_);
    // The piece that came last stands on the last line, which an earlier batch may have told of.
    LinePlace place{lines_, last_line_start_, {}};
    batch_.first_line = std::min(batch_.first_line, lines_);
    for (const Message& message : unwrapper_.finish()) {
      place.text = message.text;
      read_message(message, place);
    }
    document_readings_.clear();
    documents_.finish(document_readings_);
    keep_document_readings({}, place);
    calls_.keep_texts(batch_);
  }

  std::uint64_t pending_bytes() const { return readable() - taken_; }

  Batch take() {
    taken_ = batch_.to_offset = readable();
    if (nccl_lines_ > 0) batch_.dialects["nccl"] += nccl_lines_;
    Batch taken = std::move(batch_);
    begin_batch();
    return taken;
  }

  Cursor cursor() const {
    Cursor cursor{taken_, lines_, {}};
    // Bytes of the unfinished line that were already taken; those after them will come again.
    std::uint64_t of_tail = taken_ > line_start_ ? taken_ - line_start_ : 0;
    std::string wrapping = unwrapper_.save();
    std::string document = documents_.save();
    if (of_tail == 0 && !discarding_ && wrapping.empty() && document.empty()) return cursor;
    unsigned char flags = 0;
    if (of_tail > 0 && discarding_) flags |= kDiscarding;
    if (of_tail > 0 && tail_counted_) flags |= kTailCounted;
    if (of_tail > 0 && tail_read_) flags |= kTailRead;
    if (!document.empty()) flags |= kInDocument;
    cursor.carry.push_back(static_cast<char>(flags));
    std::string_view tail = std::string_view(tail_).substr(0, of_tail);
    append_length(cursor.carry, tail.size());
    cursor.carry += tail;
    if (!document.empty()) append_length(cursor.carry, wrapping.size());
    cursor.carry += wrapping;
    cursor.carry += document;
    return cursor;
  }

 private:
  void restore(std::string_view carry) {
    if (carry.size() < 9) return;
    auto flags = static_cast<unsigned char>(carry[0]);
    std::uint64_t length = read_length(carry.substr(1));
    carry.remove_prefix(9);
    if (length > carry.size()) return;
    tail_ = carry.substr(0, length);
    discarding_ = flags & kDiscarding;
    tail_counted_ = flags & kTailCounted;
    tail_read_ = flags & kTailRead;
    carry.remove_prefix(length);
    std::uint64_t wrapping = carry.size();
    if ((flags & kInDocument) != 0) {
      wrapping = carry.size() < 8 ? UINT64_MAX : read_length(carry);
      carry.remove_prefix(std::min<std::size_t>(8, carry.size()));
    }
    wrapping = std::min<std::uint64_t>(wrapping, carry.size());
    unwrapper_.restore(carry.substr(0, wrapping));
    documents_.restore(carry.substr(wrapping));
    // Of a line too long to keep, only that it had begun is remembered.
    if (discarding_) discarded_ = 1;
    line_start_ -= std::min<std::uint64_t>(tail_.size() + discarded_, line_start_);
  }

  // Everything up to here is in the batch being filled, or in an earlier one.
  std::uint64_t readable() const {
    return finished_ ? line_start_ + tail_.size() + discarded_ : std::max(line_start_, taken_);
  }

  void begin_batch() {
    batch_ = Batch{};
    batch_.from_offset = batch_.to_offset = taken_;
    batch_.first_line = tail_counted_ ? lines_ : lines_ + 1;
    calls_.reset();
    last_frame_.clear();
    nccl_lines_ = 0;
    order_ = 0;
  }

  void count_line() {
    ++lines_;
    ++batch_.lines;
  }

  // The beginning of a line came earlier: joins what belongs to it, returns what follows it.
  std::string_view complete_tail(std::string_view bytes) {
    std::size_t newline = bytes.find('\n');
    if (newline == std::string_view::npos) {
      keep_tail(bytes);
      return {};
    }
    keep_tail(bytes.substr(0, newline));
    if (!tail_counted_) count_line();
    if (discarding_) {
      ++batch_.skipped;
    } else if (!tail_read_) {
      read_line(tail_, lines_);
      calls_.keep_texts(batch_);  // before the tail's bytes go
    }
    line_start_ += tail_.size() + discarded_ + 1;
    tail_.clear();
    discarded_ = 0;
    discarding_ = tail_counted_ = tail_read_ = false;
    return bytes.substr(newline + 1);
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

  void whole_line(std::string_view line) {
    count_line();
    if (line.size() > kMaxLineBytes)
      ++batch_.skipped;
    else
      read_line(line, lines_);
  }

  // True if a fact or a call came of it.
  bool read_line(std::string_view line, std::uint64_t number) {
    last_line_start_ = line_start_;
    LinePlace place{number, line_start_, line};
    if (read_plain_call(place)) return true;
    std::uint64_t facts_before = facts_;
    bool recognized = false;
    for (const Message& message : unwrapper_.unwrap(line))
      recognized |= read_message(message, place);
    if (!recognized && line.find('\0') != std::string_view::npos) ++batch_.skipped;
    return facts_ != facts_before;
  }

  // The hot line. Most are by the process that printed the one before, and begin with the same
  // bytes.
  bool read_plain_call(const LinePlace& place) {
    NcclCall call;
    if (!last_frame_.empty() && place.text.starts_with(last_frame_)) {
      if (!parse_nccl_call(place.text.substr(last_frame_.size()), call)) return false;
    } else {
      NcclLine frame;
      if (!read_plain_info(place.text, frame) || !parse_nccl_call(frame.message, call))
        return false;
      last_frame_ = place.text.substr(0, place.text.size() - frame.message.size());
      last_frames_speaker_ = calls_.speaker(batch_, frame.host, frame.pid, frame.device, -1);
    }
    calls_.add(batch_, last_frames_speaker_, call, {}, place, order_);
    ++batch_.recognized;
    ++nccl_lines_;
    return true;
  }

  bool read_message(const Message& message, const LinePlace& place) {
    if (read_document(message, place)) return true;
    bool recognized = false;
    bool of_calls = read_calls(message, place);
    for (const Parser& parser : all_parsers()) {
      if (message.text.find(parser.hint) == std::string_view::npos) continue;
      readings_.clear();
      if (!parser.parse(message.text, readings_)) continue;
      keep_readings(message, place);
      ++batch_.dialects[std::string(parser.dialect)];
      recognized = true;
      break;
    }
    if (!recognized && of_calls) ++nccl_lines_;
    if (recognized || of_calls) ++batch_.recognized;
    return recognized || of_calls;
  }

  // True: the line belongs to a document.
  bool read_document(const Message& message, const LinePlace& place) {
    if (documents_wait_ && documents_.wants(message.text)) return withheld_ = true;
    document_readings_.clear();
    const bool mine =
        documents_.read({message.text, place.text, place.number, place.offset}, document_readings_);
    keep_document_readings(message, place);
    batch_.skipped += documents_.take_given_up();
    if (!mine || documents_.dialect().empty()) return mine;
    ++batch_.dialects[std::string(documents_.dialect())];
    ++batch_.recognized;
    return true;
  }

  void keep_document_readings(const Message& message, const LinePlace& place) {
    for (DocumentReading& told : document_readings_) {
      readings_.clear();
      readings_.push_back(std::move(told.reading));
      keep_readings(message, told.line
                                 ? LinePlace{told.line->number, told.line->offset, told.line->text}
                                 : place);
    }
  }

  // Calls inside wrappers, in merged lines, without a host: everything the quick way leaves.
  bool read_calls(const Message& message, const LinePlace& place) {
    if (message.text.find("opCount ") == std::string_view::npos) return false;
    bool any = false;
    for (const NcclLine& line : nccl_lines(message.text)) {
      NcclCall call;
      if (!parse_nccl_call(line.message, call)) continue;
      EventTime time = message.time;
      if (!line.timestamp.empty())
        if (auto stamp = parse_rfc3339(line.timestamp))
          time = EventTime::at(*stamp, std::chrono::seconds(1), true);
      // The line's bytes, not the message's: unwrapped text may live only until the next line.
      std::uint32_t speaker = calls_.speaker(batch_, line.host.empty() ? message.host : line.host,
                                             line.pid, line.device, message.rank);
      calls_.add(batch_, speaker, call, time, place, order_);
      ++facts_;
      any = true;
    }
    return any;
  }

  void keep_readings(const Message& message, const LinePlace& place) {
    for (Reading& reading : readings_) {
      if (message.from_user_space && std::holds_alternative<GpuXid>(reading.fact)) continue;
      if (auto* xid = std::get_if<GpuXid>(&reading.fact)) xid->repeated *= message.repeated;
      Event& event = batch_.events.emplace_back();
      event.order = order_++;
      event.speaker = calls_.speaker(
          batch_, reading.host.empty() ? message.host : std::string_view(reading.host), reading.pid,
          reading.device, message.rank);
      event.line = place.number;
      event.offset = place.offset;
      event.time =
          reading.time ? EventTime::at(*reading.time, std::chrono::seconds(1), true) : message.time;
      event.fact = std::move(reading.fact);
      event.text = evidence_text(place.text);
      ++facts_;
      calls_.seal();
    }
  }

  // Keeps a message no parser made a fact of, if a signature asks for it.
  void keep_remark(const Message& message, const LinePlace& place) {
    if (!noteworthy_ || !noteworthy_->wants(message.text)) return;
    Remark remark{
        .dialect = {}, .level = {}, .place = {}, .function = {}, .text = std::string(message.text)};
    readings_ = {Reading{.fact = std::move(remark)}};
    keep_readings(message, place);
  }

  std::shared_ptr<const Noteworthy> noteworthy_;
  Unwrapper unwrapper_;
  Documents documents_;
  CallCollector calls_;
  std::vector<Reading> readings_;
  std::vector<DocumentReading> document_readings_;

  std::uint64_t line_start_;           // offset of the first byte of the line being read
  std::uint64_t last_line_start_ = 0;  // of the last line that was read
  std::uint64_t taken_;          // everything before this offset is in batches that were taken
  std::uint64_t lines_;          // counted so far
  std::string tail_;             // the line being read, as far as it has come
  std::uint64_t discarded_ = 0;  // bytes of it, if it is too long to keep
  bool discarding_ = false;
  bool tail_counted_ = false;
  bool tail_read_ = false;
  bool documents_wait_ = false;
  bool withheld_ = false;  // the tail waits for its end
  bool finished_ = false;

  Batch batch_;
  std::uint64_t nccl_lines_ = 0;  // lines of calls; counted here, for the batch counts by name
  std::string last_frame_;        // "node1:615:18953 [2] NCCL INFO " of the last hot line
  std::uint32_t last_frames_speaker_ = 0;
  std::uint32_t order_ = 0;
  std::uint64_t facts_ = 0;
};

Reader::Reader(const Cursor& cursor, Timestamp reference,
               std::shared_ptr<const Noteworthy> noteworthy)
    : impl_(std::make_unique<Impl>(cursor, reference, std::move(noteworthy))) {}
Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;

void Reader::feed(std::string_view bytes) { impl_->feed(bytes); }
void Reader::finish() { impl_->finish(); }
void Reader::close() { impl_->close(); }
std::uint64_t Reader::pending_bytes() const { return impl_->pending_bytes(); }
Batch Reader::take() { return impl_->take(); }
Cursor Reader::cursor() const { return impl_->cursor(); }

}  // namespace faultline
