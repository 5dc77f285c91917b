#include "ingest/reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "ingest/call_collector.h"
#include "ingest/documents.h"
#include "ingest/dump_body.h"
#include "ingest/repeat_filter.h"
#include "ingest/trace_body.h"
#include "ingest/unwrap.h"
#include "ingest/wanted_remarks.h"
#include "parsers/nccl_call.h"
#include "parsers/nccl_forms.h"
#include "parsers/nccl_remark.h"
#include "parsers/parser.h"
#include "parsers/parser_choice.h"

namespace faultline {
namespace {

// The carry: a byte of flags, the unfinished line with its length, then the wrappers' own memory;
// inside a document that too with its length, and then the document's. In the midst of a dump the
// unfinished line is what there is of it.
constexpr unsigned char kDiscarding = 1;
constexpr unsigned char kTailCounted = 2;
constexpr unsigned char kTailRead = 4;
constexpr unsigned char kInDocument = 8;
constexpr unsigned char kInDump = 16;
constexpr unsigned char kPassingOver = 32;

constexpr std::size_t kMostReserved = 8192;  // events of the batch to come

// Of a dump that breaks off, the most that waits over a restart for its rest.
constexpr std::size_t kMaxCarriedDump = Reader::kMaxLineBytes;

void append_length(std::string& out, std::uint64_t length) {
  for (int shift = 0; shift < 64; shift += 8)
    out.push_back(static_cast<char>(length >> shift & 255));
}

constexpr std::string_view kKernel = "kernel";
constexpr std::string_view kTorch = "torch";

constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

// A warning that goes on over more lines than this is no warning of ours.
constexpr std::size_t kMaxRemarkBytes = 4096;

// A word of eight bytes at a time: no escapes or holes in it, no line of another process. A
// message may speak of the "NCCL version".
bool is_plain(std::string_view message) {
  constexpr std::uint64_t kBlanks = 0x2020202020202020;
  constexpr std::uint64_t kHighs = 0x8080808080808080;
  std::uint64_t control = 0;
  std::size_t at = 0;
  for (; at + 8 <= message.size(); at += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, message.data() + at, 8);
    control |= (eight - kBlanks) & ~eight & kHighs;
  }
  for (; at < message.size(); ++at)
    if (static_cast<unsigned char>(message[at]) < ' ') control = 1;
  if (control != 0) return false;
  for (at = message.find("NCCL "); at != std::string_view::npos; at = message.find("NCCL ", at + 1))
    if (at + 5 < message.size() && message[at + 5] >= 'A' && message[at + 5] <= 'Z') return false;
  return true;
}

EventTime time_of(const NcclLine& line, const Message& message) {
  auto own = time_of(line);
  return own ? EventTime::at(*own, std::chrono::seconds(1), true) : message.time;
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
      : wanted_(std::move(noteworthy)),
        unwrapper_(reference),
        line_start_(cursor.offset),
        taken_(cursor.offset),
        lines_(cursor.lines) {
    restore(cursor.carry);
    begin_batch();
  }

  void set_boot_time(Timestamp boot_time) { boot_us_ = boot_time.time_since_epoch().count(); }

  void feed(std::string_view bytes) {
    if (bytes.empty()) return;
    finished_ = false;
    const bool may_be_trace = at_beginning_ && !dump_.open() && TraceBody::may_begin(bytes);
    if (trace_.open() || may_be_trace)
      feed_trace(bytes);
    else
      feed_others(bytes);
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

  void finish() { finish(LineEnd::missing); }

  void close() {
    finish(LineEnd::lost);
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
    if (kernel_lines_ > 0) batch_.dialects[std::string(kKernel)] += kernel_lines_;
    for (std::size_t i = 0; i < kNcclSubsystems; ++i)
      if (without_fact_[i] > 0)
        batch_.subsystems[std::string(name_of(static_cast<NcclSubsystem>(i)))] = without_fact_[i];
    Batch taken = std::move(batch_);
    begin_batch();
    batch_.events.reserve(std::min(taken.events.size(), kMostReserved));  // likely as many again
    return taken;
  }

  Cursor cursor() const {
    Cursor cursor{taken_, lines_, {}};
    // Bytes of the unfinished line that were already taken; those after them will come again.
    std::uint64_t of_tail = taken_ > line_start_ ? taken_ - line_start_ : 0;
    if (dump_.open()) {
      if (of_tail > 0 || dump_.passes_over()) cursor.carry = saved_dump(of_tail);
      return cursor;
    }
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
  // Whether the line in hand has its newline.
  enum class LineEnd { there, missing, lost };

  void finish(LineEnd end) {
    finished_ = true;
    batch_.end = SourceEnd::whole;
    if (trace_.open() && !finish_trace()) return;
    read_dumps(true);
    if (dump_.size() > 0) {
      batch_.end = SourceEnd::torn;
      return;
    }
    if (tail_.empty() && !discarding_) return;
    if (!tail_counted_) count_line();
    tail_counted_ = true;
    line_end_ = end;
    if (!tail_read_ && !discarding_) tail_read_ = read_line(tail_, lines_);
    line_end_ = LineEnd::there;
    if (!tail_read_) batch_.end = SourceEnd::torn;
    calls_.keep_texts(batch_);
  }

  void restore(std::string_view carry) {
    if (carry.size() < 9) return;
    auto flags = static_cast<unsigned char>(carry[0]);
    std::uint64_t length = read_length(carry.substr(1));
    carry.remove_prefix(9);
    if (length > carry.size()) return;
    if ((flags & (kInDump | kPassingOver)) != 0) {
      restore_dump(flags, carry.substr(0, length));
      return;
    }
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
    at_beginning_ = tail_.empty() && !discarding_ && carry.empty();
    // Of a line too long to keep, only that it had begun is remembered.
    if (discarding_) discarded_ = 1;
    line_start_ -= std::min<std::uint64_t>(tail_.size() + discarded_, line_start_);
  }

  // Everything up to here is in the batch being filled, or in an earlier one.
  std::uint64_t readable() const {
    return finished_ ? line_start_ + dump_.size() + tail_.size() + discarded_
                     : std::max(line_start_, taken_);
  }

  void begin_batch() {
    batch_ = Batch{};
    batch_.from_offset = batch_.to_offset = taken_;
    batch_.first_line = tail_counted_ || dump_counted_ ? lines_ : lines_ + 1;
    calls_.reset();
    repeats_.reset();
    last_frame_.clear();
    nccl_lines_ = 0;
    kernel_lines_ = 0;
    without_fact_ = {};
    last_warning_ = {};
    order_ = 0;
  }

  void count_line() {
    ++lines_;
    ++batch_.lines;
  }

  void feed_trace(std::string_view bytes) {
    TraceBody::Step step = trace_.feed(bytes);
    if (step.what == TraceBody::What::text) feed_others(step.rest);
    if (step.what != TraceBody::What::trace) return;
    keep_trace(step);
    feed(step.rest);
  }

  // False: it breaks off; whatever may follow later would mean nothing without its beginning.
  bool finish_trace() {
    while (trace_.open()) {
      TraceBody::Step step = trace_.finish();
      if (step.what == TraceBody::What::text) feed_others(step.rest);
      if (step.what != TraceBody::What::text) keep_trace(step);
      if (step.what == TraceBody::What::trace) feed(step.rest);
      finished_ = true;
      if (step.what != TraceBody::What::broken_off) continue;
      dump_.pass_over();
      batch_.end = SourceEnd::torn;
      return false;
    }
    return true;
  }

  // A trace counts as one line.
  void keep_trace(TraceBody::Step& step) {
    count_line();
    ++batch_.dialects["torch-profiler"];
    ++batch_.recognized;
    const std::uint32_t speaker = calls_.speaker(batch_, {}, 0, -1, -1);
    for (DumpedFact& told : step.facts)
      keep_fact(std::move(told.fact), speaker, told.time, {lines_, line_start_, told.text});
    line_start_ += step.size;
  }

  void feed_dump(std::string_view bytes) {
    if (dump_.passes_over()) {
      line_start_ += bytes.size();
      return;
    }
    dump_.add(bytes);
    dump_read_ = false;
    read_dumps(false);
  }

  // What is held becomes facts, or turns out to be lines. all: nothing follows for now.
  void read_dumps(bool all) {
    using What = DumpBody::Step::What;
    while (dump_.size() > 0 && !dump_read_) {
      DumpBody::Step step = dump_.next(all);
      if (step.what == What::wait) return;
      if (step.what == What::text) {
        const std::string text = dump_.take();
        feed_lines(text);
        return;
      }
      keep_dump(step.facts);
      if (step.what == What::dump) {
        line_start_ += step.bytes;
        dump_.drop(step.bytes);
        dump_counted_ = false;
      } else if (step.what == What::broken_off && dump_.size() <= kMaxCarriedDump) {
        dump_read_ = true;
      } else {
        line_start_ += dump_.size();
        dump_.pass_over();
      }
    }
  }

  // A dump counts as one line.
  void keep_dump(std::vector<DumpedFact>& facts) {
    if (!std::exchange(dump_counted_, true)) {
      count_line();
      if (!std::get<FlightRecorderDump>(facts.front().fact).refused.empty()) {
        ++batch_.skipped;
      } else {
        ++batch_.dialects["flight-recorder"];
        ++batch_.recognized;
      }
    }
    const std::uint32_t speaker = calls_.speaker(batch_, {}, 0, -1, -1);
    for (DumpedFact& told : facts)
      keep_fact(std::move(told.fact), speaker, told.time, {lines_, line_start_, told.text});
  }

  std::string saved_dump(std::uint64_t length) const {
    unsigned char flags = dump_.passes_over() ? kPassingOver : kInDump;
    if (dump_counted_) flags |= kTailCounted;
    if (dump_read_) flags |= kTailRead;
    const std::string_view held = dump_.held().substr(0, length);
    std::string carry(1, static_cast<char>(flags));
    append_length(carry, held.size());
    return carry.append(held);
  }

  void restore_dump(unsigned char flags, std::string_view held) {
    dump_.add(held);
    if ((flags & kPassingOver) != 0) dump_.pass_over();
    dump_counted_ = flags & kTailCounted;
    dump_read_ = flags & kTailRead;
    line_start_ -= std::min<std::uint64_t>(held.size(), line_start_);
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
    std::uint64_t facts_before = facts_;
    if (read_plain_nccl(place)) return facts_ != facts_before;
    bool recognized = false;
    for (const Message& message : unwrapper_.unwrap(line))
      recognized |= read_message(message, place);
    if (!recognized && line.find('\0') != std::string_view::npos) ++batch_.skipped;
    return facts_ != facts_before;
  }

  // The usual line, HOST:PID:TID [DEV] NCCL INFO with nothing around it, and the hot one: a call.
  // Most are by the thread that printed the one before, and begin with the same bytes.
  bool read_plain_nccl(const LinePlace& place) {
    if (last_frame_.empty() || !place.text.starts_with(last_frame_)) {
      NcclLine frame;
      if (!read_plain_info(place.text, frame)) return false;
      frame_ = frame;
      last_frame_ = place.text.substr(0, place.text.size() - frame_.message.size());
      frame_.host = std::string_view(last_frame_).substr(0, frame_.host.size());
      last_frames_speaker_ = kNobody;
    }
    std::string_view text = place.text.substr(last_frame_.size());
    NcclCall call;
    if (parse_nccl_call(text, call)) {
      calls_.add(batch_, frames_speaker(), call, {}, place, order_);
      ++facts_;
    } else {
      while (text.ends_with('\r')) text.remove_suffix(1);
      if (!is_plain(text) || unwrapper_.in_document()) return false;
      frame_.message = text;
      keep_nccl(frame_, {}, place);
    }
    ++batch_.recognized;
    ++nccl_lines_;
    return true;
  }

  std::uint32_t frames_speaker() {
    if (last_frames_speaker_ == kNobody)
      last_frames_speaker_ = calls_.speaker(batch_, frame_.host, frame_.pid, frame_.device, -1);
    return last_frames_speaker_;
  }

  bool read_message(const Message& message, const LinePlace& place) {
    if (read_document(message, place)) return true;
    bool recognized = read_nccl(message, place);
    if (recognized) ++nccl_lines_;
    const ParserChoice::Set chosen =
        recognized ? ParserChoice::Set() : parser_choice().of(message.text);
    for (std::size_t i = chosen._Find_first(); i < chosen.size() && !recognized;
         i = chosen._Find_next(i)) {
      const Parser& parser = all_parsers()[i];
      if (parser.ends_openly && line_end_ != LineEnd::there) continue;
      readings_.clear();
      if (!parser.parse(message.text, readings_)) continue;
      // What was done to the machine also matters to those who read remarks.
      const bool quoted = message.from_user_space && parser.dialect == kKernel;
      if ((readings_.empty() && !quoted) || tells_of_upkeep())
        keep_remark(message, place, parser.dialect);
      keep_readings(message, place);
      ++batch_.dialects[std::string(parser.dialect)];
      recognized = true;
    }
    if (!recognized && continue_warning(message, place)) {
      ++nccl_lines_;
      recognized = true;
    }
    if (!recognized && keep_unclaimed(message, place)) {
      ++kernel_lines_;
      recognized = true;
    }
    if (recognized) ++batch_.recognized;
    return recognized;
  }

  // True: the line belongs to a document.
  bool read_document(const Message& message, const LinePlace& place) {
    // No tool's report begins with a line of the kernel's own; there may be very many of them.
    if (message.from_kernel && !documents_.is_open()) return false;
    // Documents wait for the whole line: one that was cut off may say something else.
    if (line_end_ == LineEnd::missing && documents_.wants(message.text)) return true;
    document_readings_.clear();
    const bool mine =
        documents_.read({message.text, place.text, place.number, place.offset, message.host,
                         message.time, message.rank, line_end_ == LineEnd::lost},
                        document_readings_);
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
      if (!told.line) {
        keep_readings(message, place);
        continue;
      }
      const KeptLine& line = *told.line;
      keep_readings({.text = line.text, .host = line.host, .time = line.time, .rank = line.rank},
                    {line.number, line.offset, line.text});
    }
  }

  // NCCL's lines inside wrappers, in merged lines, without a host: what the quick way leaves.
  bool read_nccl(const Message& message, const LinePlace& place) {
    if (message.text.find("NCCL ") == std::string_view::npos) return false;
    NcclLine line;
    if (read_plain_info(message.text, line) && is_plain(line.message)) {
      read_nccl(line, message, place);
      return true;
    }
    const std::vector<NcclLine> lines = nccl_lines(message.text);
    for (const NcclLine& one : lines) read_nccl(one, message, place);
    return !lines.empty();
  }

  void read_nccl(const NcclLine& line, const Message& message, const LinePlace& place) {
    NcclCall call;
    if (!parse_nccl_call(line.message, call)) return keep_nccl(line, message, place);
    // The line's bytes, not the message's: unwrapped text may live only until the next line.
    calls_.add(batch_, speaker_of(line, message), call, time_of(line, message), place, order_);
    ++facts_;
  }

  std::uint32_t speaker_of(const NcclLine& line, const Message& message) {
    if (&line == &frame_) return frames_speaker();
    return calls_.speaker(batch_, line.host.empty() ? message.host : line.host, line.pid,
                          line.device, message.rank);
  }

  // Everything NCCL says but calls.
  void keep_nccl(const NcclLine& line, const Message& message, const LinePlace& place) {
    nccl_facts_.clear();
    const NcclForm* form = read_nccl_line(line, nccl_facts_);
    if (line_end_ != LineEnd::there) drop_unfinished();
    if (nccl_facts_.empty() && !keep_remark(line, message, place)) {
      NcclSubsystem subsystem = form ? form->subsystem : guessed_subsystem(line.message);
      ++without_fact_[static_cast<std::size_t>(subsystem)];
    }
    for (Fact& fact : nccl_facts_)
      keep_fact(std::move(fact), speaker_of(line, message), time_of(line, message), place);
    if (line.level == NcclLevel::warn && !nccl_facts_.empty())
      last_warning_ = {place.number, batch_.events.size() - 1};
  }

  // The line may have been cut anywhere. Of a warning that nothing can complete any more, its
  // beginning is better than nothing.
  void drop_unfinished() {
    std::erase_if(nccl_facts_, [this](const Fact& fact) {
      if (line_end_ == LineEnd::lost && std::holds_alternative<Remark>(fact)) return false;
      return !stands_though_cut(fact);
    });
  }

  // A warning of several lines, of which only the first has a frame.
  bool continue_warning(const Message& message, const LinePlace& place) {
    if (last_warning_.line == 0 || place.number != last_warning_.line + 1) return false;
    Event& event = batch_.events[last_warning_.event];
    auto& text = std::get<Remark>(event.fact).text;
    if (batch_.speakers[event.speaker].rank != message.rank) return false;
    const auto between = continues_warning(text, message.text);
    if (!between || text.size() + message.text.size() > kMaxRemarkBytes) return false;
    std::string_view more = message.text;
    more.remove_prefix(std::min(more.find_first_not_of(" \t"), more.size()));
    text += *between;
    text += more;
    last_warning_.line = place.number;
    return true;
  }

  bool tells_of_upkeep() const {
    return std::ranges::any_of(readings_, [](const Reading& reading) {
      return std::holds_alternative<GpuDriver>(reading.fact) ||
             std::holds_alternative<HostStopping>(reading.fact);
    });
  }

  void keep_readings(const Message& message, const LinePlace& place) {
    for (Reading& reading : readings_) {
      auto* xid = std::get_if<GpuXid>(&reading.fact);
      auto* sxid = std::get_if<SwitchError>(&reading.fact);
      // A program that quotes the driver; the fabric manager is a program and speaks for itself.
      if (message.from_user_space && (xid || (sxid && sxid->teller == "driver"))) continue;
      if (xid) xid->repeated *= message.repeated;
      if (sxid) sxid->repeated *= message.repeated;
      const std::string_view host =
          reading.host.empty() ? message.host : std::string_view(reading.host);
      keep_fact(
          std::move(reading.fact),
          calls_.speaker(batch_, host, reading.pid, reading.device, message.rank),
          reading.time ? EventTime::at(*reading.time, std::chrono::seconds(1), true) : message.time,
          place);
    }
  }

  void keep_fact(Fact&& fact, std::uint32_t speaker, const EventTime& time,
                 const LinePlace& place) {
    // Said once, and only where there are stamps that need it.
    if (boot_us_ && time.uptime_us)
      keep_fact(ClockReading{.wall_us = *std::exchange(boot_us_, std::nullopt), .teller = "sender"},
                speaker, EventTime::since_boot(0), place);
    ++facts_;
    if (repeats_.swallows(batch_, speaker, time, place, fact)) return;
    Event& event = batch_.events.emplace_back();
    event.order = order_++;
    event.speaker = speaker;
    event.line = place.number;
    event.offset = place.offset;
    event.time = time;
    event.fact = std::move(fact);
    event.text = evidence_text(place.text);
    calls_.seal();
  }

  // Keeps a line that gave no fact, if a signature asks for it: one of NCCL's ...
  bool keep_remark(const NcclLine& line, const Message& message, const LinePlace& place) {
    if (line_end_ == LineEnd::missing) return false;
    std::optional<Remark> remark = wanted_.of_nccl(line);
    if (!remark) return false;
    keep_fact(std::move(*remark), speaker_of(line, message), time_of(line, message), place);
    return true;
  }

  // ... or another program's.
  void keep_remark(const Message& message, const LinePlace& place, std::string_view dialect) {
    if (line_end_ == LineEnd::missing) return;
    if (auto remark = wanted_.of(message, dialect)) keep_said(std::move(*remark), message, place);
  }

  void keep_said(Remark&& remark, const Message& message, const LinePlace& place) {
    keep_fact(std::move(remark), calls_.speaker(batch_, message.host, 0, -1, message.rank),
              message.time, place);
  }

  // A line that no parser knows. True: it is the kernel's, whether or not a signature asks for it.
  bool keep_unclaimed(const Message& message, const LinePlace& place) {
    if (line_end_ == LineEnd::missing) return message.from_kernel;
    WantedRemarks::Unclaimed found = wanted_.unclaimed(message);
    if (found.remark) keep_said(std::move(*found.remark), message, place);
    if (found.is_of_torch) {
      ++batch_.dialects[std::string(kTorch)];
      ++batch_.recognized;
    }
    return found.is_of_kernel;
  }

  WantedRemarks wanted_;
  Unwrapper unwrapper_;
  Documents documents_;
  DumpBody dump_;
  TraceBody trace_;
  CallCollector calls_;
  RepeatFilter repeats_;
  std::vector<Reading> readings_;
  std::vector<Fact> nccl_facts_;
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
  bool finished_ = false;
  bool at_beginning_ = true;   // of the source, of a body, or behind a dump
  bool dump_counted_ = false;  // the dump in hand, as a line
  bool dump_read_ = false;     // all that has come of it
  LineEnd line_end_ = LineEnd::there;

  Batch batch_;
  // Counted here, for the batch counts by name.
  std::uint64_t nccl_lines_ = 0;
  std::uint64_t kernel_lines_ = 0;
  std::array<std::uint64_t, kNcclSubsystems> without_fact_{};

  std::string last_frame_;  // "node1:615:18953 [2] NCCL INFO " of the last plain line
  NcclLine frame_;          // the same, read
  std::uint32_t last_frames_speaker_ = kNobody;
  struct {
    std::uint64_t line = 0;  // of its text so far, in the source
    std::size_t event = 0;
  } last_warning_;
  std::uint32_t order_ = 0;
  std::uint64_t facts_ = 0;
  std::optional<std::int64_t> boot_us_;  // told by the sender, and not passed on yet
};

Reader::Reader(const Cursor& cursor, Timestamp reference,
               std::shared_ptr<const Noteworthy> noteworthy)
    : impl_(std::make_unique<Impl>(cursor, reference, std::move(noteworthy))) {}
Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;

void Reader::set_boot_time(Timestamp boot_time) { impl_->set_boot_time(boot_time); }
void Reader::feed(std::string_view bytes) { impl_->feed(bytes); }
void Reader::finish() { impl_->finish(); }
void Reader::close() { impl_->close(); }
std::uint64_t Reader::pending_bytes() const { return impl_->pending_bytes(); }
Batch Reader::take() { return impl_->take(); }
Cursor Reader::cursor() const { return impl_->cursor(); }

}  // namespace faultline
