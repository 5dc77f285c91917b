#include "ingest/line_reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "ingest/dialects.h"
#include "ingest/unwrap/labels.h"
#include "model/event_weight.h"
#include "parsers/launcher/launcher_lines.h"
#include "parsers/nccl/nccl_call.h"
#include "parsers/nccl/nccl_forms.h"
#include "parsers/parser_choice.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

// NCCL's own words hold no secrets, but settings and addresses that they quote may:
// "NCCL_NET_PLUGIN set by environment to".
bool may_quote(std::string_view text) {
  return text.starts_with("NCCL_") || std::memchr(text.data(), '=', text.size()) != nullptr ||
         std::memchr(text.data(), '@', text.size()) != nullptr;
}

constexpr std::array<std::string_view, 3> kProgramFolders{"/usr/bin/", "/usr/sbin/",
                                                          "/usr/libexec/"};

constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

constexpr std::size_t kMostReserved = 8192;  // events of the batch to come

// Whether a message holds no control characters (escapes, NULs) and no line of another process. It
// looks at eight bytes at a time. A message may speak of the "NCCL version".
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
// Tools print short words; a line of a megabyte that looks like theirs must not be kept whole.
void shorten(std::vector<NamedValue>& values) {
  constexpr std::size_t kMostBytes = 512;
  for (NamedValue& value : values)
    for (std::string* text : {&value.name, &value.value})
      if (text->size() > kMostBytes) text->resize(kMostBytes);
}

// Whether a Python program that the distribution installs raised this: it is no rank, except a
// launcher that raises an exception of PyTorch.
bool is_of_a_service(const Fact& fact) {
  const auto* exception = std::get_if<PythonException>(&fact);
  if (exception == nullptr || exception->file.ends_with(".py") ||
      exception->type.starts_with("torch."))
    return false;
  return std::ranges::any_of(kProgramFolders, [&](std::string_view folder) {
    return exception->file.starts_with(folder);
  });
}

}  // namespace

LineReader::LineReader(Timestamp received, std::shared_ptr<const Noteworthy> noteworthy)
    : wanted_(std::move(noteworthy)), unwrapper_(received), last_frames_speaker_(kNobody) {
  begin_batch();
}

void LineReader::set_boot_time(Timestamp boot_time) {
  boot_us_ = boot_time.time_since_epoch().count();
}

// Call it between batches: it promises nothing about a batch that is being filled.
LineReader::Memory LineReader::save() const {
  Memory memory{rows_.save(), unwrapper_.save(), documents_.save(), {}};
  if (last_warning_.line != 0) {
    HeldEvents held;
    for (std::size_t i = last_warning_.event; i < batch_.events.size(); ++i) {
      held.events.push_back(batch_.events[i]);
      held.speakers.push_back(batch_.speakers[batch_.events[i].speaker]);
    }
    memory.warning = saved_warning(last_warning_, held);
  }
  return memory;
}

void LineReader::restore(const Memory& memory) {
  rows_.restore(memory.rows);
  unwrapper_.restore(memory.wrapping);
  documents_.restore(memory.document);
  last_warning_ = {};
  keep_held(restored_warning(memory.warning, last_warning_));
}

void LineReader::begin_file() {
  restore({});
  rows_ = {};
}

void LineReader::keep_held(HeldEvents&& held) {
  last_warning_.event = batch_.events.size();
  last_warning_.facts = facts_ - (held.empty() ? 0 : held.events.size() - 1);
  last_warning_.calls = calls_told_;
  for (std::size_t i = 0; i < held.events.size(); ++i) {
    const Speaker& by = held.speakers[i];
    Event& event = batch_.events.emplace_back(std::move(held.events[i]));
    event.order = order_++;
    event.speaker = calls_.speaker(batch_, by.host, by.pid, by.device, by.rank);
  }
}

void LineReader::begin_batch() {
  batch_ = Batch{};
  calls_.reset();
  repeats_.reset();
  last_frame_.clear();
  nccl_lines_ = 0;
  kernel_lines_ = 0;
  without_fact_ = {};
  order_ = 0;
  weight_ = 0;
}

// A kernel line that a signature knows as it stands goes out with its batch: no line may follow it.
bool LineReader::waits_for_nothing(const Event& event) const {
  const auto* remark = std::get_if<Remark>(&event.fact);
  return remark != nullptr && remark->dialect == kKernel && wanted_.knows(*remark);
}

Batch LineReader::take() {
  if (nccl_lines_ > 0) batch_.dialects[std::string(kNccl)] += nccl_lines_;
  if (kernel_lines_ > 0) batch_.dialects[std::string(kKernel)] += kernel_lines_;
  for (std::size_t i = 0; i < kNcclSubsystems; ++i)
    if (without_fact_[i] > 0)
      batch_.subsystems[std::string(name_of(static_cast<NcclSubsystem>(i)))] = without_fact_[i];
  if (last_warning_.line != 0 && waits_for_nothing(batch_.events[last_warning_.event]))
    last_warning_ = {};
  HeldEvents held;
  if (last_warning_.line != 0) held = HeldEvents::from(batch_, last_warning_.event);
  Batch taken = std::move(batch_);
  begin_batch();
  batch_.events.reserve(std::min(taken.events.size(), kMostReserved));  // likely as many again
  keep_held(std::move(held));
  return taken;
}

LineReader::Read LineReader::read(const LinePlace& line, LineEnd end, bool counted) {
  if (end == LineEnd::there) return read_as_it_is(line, end, counted);
  // If the rest comes, the line is read anew, with the secret that the line before it left open.
  OpenSecret before = open_secret_;
  const Read read = read_as_it_is(line, end, counted);
  if (!read.told) open_secret_ = std::move(before);
  return read;
}

LineReader::Read LineReader::read_as_it_is(const LinePlace& line, LineEnd end, bool counted) {
  // The last texts of calls may be views of a line without its secrets, which is overwritten now.
  if (is_hidden_ || row_is_hidden_) calls_.keep_texts(batch_);
  searched_ = is_hidden_ = row_is_hidden_ = false;
  if (!rows_.is_watching()) return read_line(line, end, counted);
  LinePlace place = line;
  searched_ = true;
  row_is_hidden_ = wanted_.hides(line.text, end != LineEnd::there, open_secret_, hidden_row_);
  if (row_is_hidden_) place.text = hidden_row_;
  has_joined_ = has_joined_this_ = false;
  has_hidden_ = row_is_hidden_;
  Read read = read_row(place, end, counted);
  read.waits = rows_.is_open();
  read.is_row = has_joined_this_ || read.waits;
  read.has_joined = has_joined_;
  read.has_hidden = has_hidden_;
  read.is_call = false;  // rows_ needs the length of each line
  return read;
}

void LineReader::hide_secrets(LinePlace& place) {
  if (std::exchange(searched_, true)) return;
  is_hidden_ = wanted_.hides(place.text, line_end_ != LineEnd::there, open_secret_, hidden_);
  if (is_hidden_) place.text = hidden_;
}

void LineReader::pass_calls(std::uint64_t calls) {
  last_warning_ = {};
  unwrapper_.passed(calls);
  batch_.recognized += calls;
  nccl_lines_ += calls;
}

void LineReader::pass_others() {
  rows_ = {};
  documents_.restore({});
  last_warning_ = {};
}

std::string LineReader::without_secrets(std::string_view bytes) const {
  std::string hidden;
  OpenSecret open = open_secret_;
  return wanted_.hides(bytes, true, open, hidden) ? hidden : std::string(bytes);
}

LineReader::Read LineReader::read_row(const LinePlace& place, LineEnd end, bool counted) {
  if (rows_.is_open()) {
    if (rows_.goes_on_with(place.text)) {
      const bool was_last = rows_.add(place.text);
      has_joined_this_ = was_last || end != LineEnd::there;
      return was_last || end != LineEnd::there ? read_joined(place, end) : Read{};
    }
    read_joined(place, LineEnd::there);
    if (last_warning_.line == place.number) --last_warning_.line;  // this row comes after it
  }
  if (rows_.is_joining()) {
    if (end == LineEnd::there && rows_.begin(place.text, place.number)) return {};
    return read_line(place, end, counted);
  }
  is_more_of_a_line_ = false;
  const Read read = read_line(place, end, counted);
  using Learned = WrappedRows::Learned;
  const bool inside = documents_.is_open() || unwrapper_.in_document() || is_more_of_a_line_;
  const Learned learned = rows_.learn(
      place.text, place.number, {.told = read.told, .counted = read.counted, .inside = inside});
  if (end != LineEnd::there) rows_.forget_row();
  has_joined_this_ =
      learned == Learned::line_ends || (learned == Learned::line_goes_on && end != LineEnd::there);
  if (has_joined_this_) return read_joined(place, end);
  return read;
}

// A joined line is placed on the last of its rows, or on the row that showed that it had ended.
LineReader::Read LineReader::read_joined(LinePlace place, LineEnd end) {
  const WrappedRows::Line line = rows_.take();
  if (last_warning_.line != 0 && last_warning_.line + 1 == line.first_row)
    last_warning_.line = place.number - 1;
  place.text = line.text;
  is_guess_ = !rows_.is_joining();
  has_joined_ = true;
  searched_ = false;
  const Read read = read_line(place, end, line.counted);
  has_hidden_ = has_hidden_ || (is_hidden_ && hidden_ != line.text);  // not hidden in a row already
  is_guess_ = false;
  calls_.keep_texts(batch_);
  if (read.told) rows_.told_more();
  return read;
}

LineReader::Read LineReader::read_line(LinePlace place, LineEnd end, bool counted) {
  line_end_ = end;
  counted_ = counted;
  const std::uint64_t facts_before = facts_;
  const std::uint64_t calls_before = calls_told_;
  if (read_plain_nccl(place)) {
    unwrapper_.passed(1);
    forget_warning_that_ended(place.number);
    return {
        .told = facts_ != facts_before, .counted = true, .is_call = calls_told_ != calls_before};
  }
  const bool is_alone = !documents_.is_underway();
  hide_secrets(place);
  const std::span<const Message> messages = unwrapper_.unwrap(place.text);
  const bool is_one = messages.size() == 1;
  for (const Message& message : messages) read_message(message, place);
  forget_warning_that_ended(place.number);
  if (!counted_ && place.text.find('\0') != std::string_view::npos) {
    counted_ = true;
    ++batch_.skipped;
  }
  return {.told = facts_ != facts_before,
          .counted = counted_,
          .is_call =
              is_alone && is_one && calls_told_ == calls_before + 1 && facts_ == facts_before + 1};
}

// A line with several messages counts once, for the first message that is recognized.
bool LineReader::count_line() {
  if (std::exchange(counted_, true)) return false;
  ++batch_.recognized;
  return true;
}

void LineReader::count(std::string_view dialect) {
  if (!count_line()) return;
  if (dialect == kNccl)
    ++nccl_lines_;
  else if (dialect == kKernel)
    ++kernel_lines_;
  else
    ++batch_.dialects[std::string(dialect)];
}

void LineReader::close(LinePlace last) {
  if (rows_.is_open()) read_joined(last, LineEnd::there);
  line_end_ = LineEnd::there;
  counted_ = false;
  for (const Message& message : unwrapper_.finish()) {
    last.text = message.text;
    read_message(message, last);
  }
  document_readings_.clear();
  documents_.close(document_readings_);
  keep_document_readings({}, last);
  last_warning_ = {};
}

void LineReader::keep(std::vector<DumpedFact>& facts, std::uint64_t number, std::uint64_t offset) {
  const std::uint32_t speaker = calls_.speaker(batch_, {}, 0, -1, -1);
  for (DumpedFact& told : facts)
    keep_fact(std::move(told.fact), speaker, told.time, {number, offset, told.text});
}

// Reads the usual line, HOST:PID:TID [DEV] NCCL INFO with nothing around it. Most are calls: this
// is the hot path. Most are by the thread of the line before, and begin with the same bytes.
bool LineReader::read_plain_nccl(const LinePlace& place) {
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
    ++calls_told_;
  } else {
    LinePlace shown = place;
    if (may_quote(text)) {
      hide_secrets(shown);
      text = shown.text.substr(last_frame_.size());
    }
    while (text.ends_with('\r')) text.remove_suffix(1);
    if (!is_plain(text) || unwrapper_.in_document()) return false;
    frame_.message = text;
    keep_nccl(frame_, {}, shown);
  }
  if (count_line()) ++nccl_lines_;
  return true;
}

std::uint32_t LineReader::frames_speaker() {
  if (last_frames_speaker_ == kNobody)
    last_frames_speaker_ = calls_.speaker(batch_, frame_.host, frame_.pid, frame_.device, -1);
  return last_frames_speaker_;
}

// Whether a line without its newline may go on. The last line of a source is complete if it ends as
// a sentence does, or with the words by which a launcher says how a process ended.
bool LineReader::may_be_cut(std::string_view text) const {
  if (line_end_ == LineEnd::there) return false;
  if (line_end_ == LineEnd::missing) return true;
  text = tool_text::without_end_blanks(text);
  const std::size_t colon = text.rfind(": ");
  const bool says_how_it_ended = text.ends_with(" Out Of Memory") ||
                                 text.ends_with(" Not responding") ||
                                 (colon != text.npos && signal_named(text.substr(colon + 2)));
  return !says_how_it_ended && !tool_text::ends_as_a_sentence(text);
}

bool LineReader::read_message(const Message& message, const LinePlace& place) {
  if (read_document(message, place)) return true;
  if (read_nccl(message, place)) {
    count(kNccl);
    return true;
  }
  if (complete_cut_line(message, place)) {
    count(kTorch);
    return true;
  }
  if (ask_parsers(message, place)) return true;
  if (continue_warning(message, place)) return true;
  if (read_behind_label(message, place)) return true;
  if (keep_unclaimed(message, place)) {
    count(kKernel);
    return true;
  }
  keep_trouble(message, place);
  return false;
}

bool LineReader::ask_parsers(const Message& message, const LinePlace& place) {
  const ParserChoice::Set chosen = parser_choice().of(message.text);
  for (std::size_t i = chosen._Find_first(); i < chosen.size(); i = chosen._Find_next(i)) {
    const Parser& parser = all_parsers()[i];
    if (parser.ends_openly && may_be_cut(message.text)) continue;
    readings_.clear();
    if (!parser.parse(message.text, readings_)) continue;
    // Upkeep of the machine is also kept as a remark, because signatures ask for it.
    const bool quoted = message.from_user_space && parser.dialect == kKernel;
    if ((readings_.empty() && !quoted) || tells_of_upkeep()) {
      const std::size_t events_before = batch_.events.size();
      keep_remark(message, place, parser.dialect);
      // The next row may hold the rest of a line that was cut.
      if (parser.dialect == kTorch && batch_.events.size() > events_before)
        last_warning_ = {place.number, batch_.events.size() - 1, {}, facts_, calls_told_};
    }
    keep_readings(message, place);
    count(parser.dialect);
    return true;
  }
  return false;
}

// A line that no parser knows may begin with the label of a host, which no line before has shown.
bool LineReader::read_behind_label(const Message& message, const LinePlace& place) {
  if (message.from_kernel || !message.program.empty()) return false;
  const std::optional<LabelledLine> labelled = possible_label(message.text);
  if (!labelled) return false;
  Message behind = message;
  behind.text = labelled->text;
  if (labelled->rank >= 0)
    behind.rank = labelled->rank;
  else if (behind.host.empty())
    behind.host = labelled->label;
  if (!ask_parsers(behind, place)) return false;
  unwrapper_.learn_label(labelled->label);
  return true;
}

// Reports are often posted without the newline of their last row. That row is complete if it ends
// with a closing bracket or quote, or is a rule of "=" or "-".
bool LineReader::may_be_cut_row(std::string_view text) const {
  constexpr std::string_view kCloses = "]}\"'";
  if (!may_be_cut(text)) return false;
  text = tool_text::without_end_blanks(text);
  const bool is_rule = text.size() > 1 && (text.front() == '=' || text.front() == '-') &&
                       text.find_first_not_of(text.front()) == text.npos;
  return text.empty() || (!is_rule && kCloses.find(text.back()) == kCloses.npos);
}

// True: the line belongs to a document.
bool LineReader::read_document(const Message& message, const LinePlace& place) {
  // No document begins with a line of the kernel, and there may be very many of these.
  if (message.from_kernel && !documents_.is_open()) return false;
  // Documents wait for the whole line: one that was cut off may say something else.
  if (line_end_ == LineEnd::missing) return documents_.wants(message.text);
  document_readings_.clear();
  const bool mine = documents_.read(
      {message.text, place.text, place.number, place.offset, message.host, message.time,
       message.rank, message.pid, may_be_cut_row(message.text), message.is_remark},
      document_readings_);
  keep_document_readings(message, place);
  batch_.skipped += documents_.take_given_up();
  if (!mine || documents_.dialect().empty()) return mine;
  count(documents_.dialect());
  return true;
}

void LineReader::keep_document_readings(const Message& message, const LinePlace& place) {
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

// Reads the lines of NCCL that the quick way leaves: wrapped, merged, without a host.
bool LineReader::read_nccl(const Message& message, const LinePlace& place) {
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

void LineReader::read_nccl(const NcclLine& line, const Message& message, const LinePlace& place) {
  NcclCall call;
  if (!parse_nccl_call(line.message, call)) return keep_nccl(line, message, place);
  // The line's bytes, not the message's: unwrapped text may live only until the next line.
  calls_.add(batch_, speaker_of(line, message), call, time_of(line, message), place, order_);
  ++facts_;
  ++calls_told_;
}

EventTime LineReader::time_of(const NcclLine& line, const Message& message) {
  const auto own = faultline::time_of(line);
  if (!own) return message.time;
  unwrapper_.saw_date(*own);
  return EventTime::at(*own, std::chrono::seconds(1), true);
}

std::uint32_t LineReader::speaker_of(const NcclLine& line, const Message& message) {
  if (&line == &frame_) return frames_speaker();
  return calls_.speaker(batch_, line.host.empty() ? message.host : line.host, line.pid, line.device,
                        message.rank);
}

// Keeps everything that NCCL says, except calls.
void LineReader::keep_nccl(const NcclLine& line, const Message& message, const LinePlace& place) {
  nccl_facts_.clear();
  const NcclForm* form = read_nccl_line(line, nccl_facts_);
  if (line_end_ != LineEnd::there) drop_unfinished();
  if (nccl_facts_.empty() && !keep_remark(line, message, place)) {
    NcclSubsystem subsystem = form ? form->subsystem : guessed_subsystem(line.message);
    ++without_fact_[static_cast<std::size_t>(subsystem)];
  }
  for (Fact& fact : nccl_facts_)
    keep_fact(std::move(fact), speaker_of(line, message), time_of(line, message), place);
  if (line.level == NcclLevel::warn && !nccl_facts_.empty() &&
      std::holds_alternative<Remark>(nccl_facts_.back()))
    last_warning_ = {place.number, batch_.events.size() - 1, {}, facts_, calls_told_};
}

// The line may have been cut anywhere. If nothing can complete a warning any more, its beginning is
// better than nothing.
void LineReader::drop_unfinished() {
  std::erase_if(nccl_facts_, [this](const Fact& fact) {
    if (line_end_ == LineEnd::lost && std::holds_alternative<Remark>(fact)) return false;
    return !stands_though_cut(fact);
  });
}

bool LineReader::tells_of_upkeep() const {
  return std::ranges::any_of(readings_, [](const Reading& reading) {
    return std::holds_alternative<GpuDriver>(reading.fact) ||
           std::holds_alternative<HostStopping>(reading.fact);
  });
}

void LineReader::keep_readings(const Message& message, const LinePlace& place) {
  for (Reading& reading : readings_) {
    auto* xid = std::get_if<GpuXid>(&reading.fact);
    auto* sxid = std::get_if<SwitchError>(&reading.fact);
    // Leave out programs that quote the driver. The fabric manager, also a program, reports its own
    // errors.
    if (message.from_user_space && (xid || (sxid && sxid->teller == "driver"))) continue;
    if (is_of_a_service(reading.fact)) continue;
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

void LineReader::keep_fact(Fact&& fact, std::uint32_t speaker, const EventTime& time,
                           const LinePlace& place) {
  // Passed on once, and only if there are stamps that need it.
  if (boot_us_ && time.uptime_us)
    keep_fact(ClockReading{.wall_us = *std::exchange(boot_us_, std::nullopt), .teller = "sender"},
              speaker, EventTime::since_boot(0), place);
  ++facts_;
  if (auto* report = std::get_if<PartReport>(&fact)) {
    shorten(report->names);
    shorten(report->values);
  }
  if (repeats_.swallows(batch_, speaker, time, place, fact)) return;
  add_event(std::move(fact), speaker, time, place);
}

void LineReader::add_event(Fact&& fact, std::uint32_t speaker, const EventTime& time,
                           const LinePlace& place) {
  Event& event = batch_.events.emplace_back();
  event.order = order_++;
  event.speaker = speaker;
  event.line = place.number;
  event.offset = place.offset;
  event.time = time;
  event.fact = std::move(fact);
  event.text = evidence_text(place.text);
  weight_ += weight_of(event);
  calls_.seal();
}

// Keeps a line that gave no fact, if a signature asks for it: one of NCCL's ...
bool LineReader::keep_remark(const NcclLine& line, const Message& message, const LinePlace& place) {
  if (line_end_ == LineEnd::missing) return false;
  std::optional<Remark> remark = wanted_.of_nccl(line);
  if (!remark) return false;
  keep_fact(std::move(*remark), speaker_of(line, message), time_of(line, message), place);
  return true;
}

// ... or another program's.
void LineReader::keep_remark(const Message& message, const LinePlace& place,
                             std::string_view dialect) {
  if (line_end_ == LineEnd::missing) return;
  if (auto remark = wanted_.of(message, dialect)) keep_said(std::move(*remark), message, place);
}

void LineReader::keep_said(Remark&& remark, const Message& message, const LinePlace& place) {
  keep_fact(std::move(remark), calls_.speaker(batch_, message.host, 0, -1, message.rank),
            message.time, place);
}

// A line that no parser knows. True: it is the kernel's, whether or not a signature asks for it.
bool LineReader::keep_unclaimed(const Message& message, const LinePlace& place) {
  if (line_end_ == LineEnd::missing) return message.from_kernel;
  WantedRemarks::Unclaimed found = wanted_.unclaimed(message);
  const std::size_t events_before = batch_.events.size();
  if (found.remark) {
    keep_said(std::move(*found.remark), message, place);
    if (message.from_kernel && batch_.events.size() > events_before &&
        WrappedRows::may_be_of_a_mail(place.text))
      last_warning_ = {place.number, batch_.events.size() - 1, {}, facts_, calls_told_};
  } else if (message.from_kernel) {
    keep_trouble(message, place);
  }
  if (found.is_of_torch) count(kTorch);
  if (found.is_of_nccl) count(kNccl);
  return found.is_of_kernel;
}

// Keeps a line that no parser knows, only to show it: it does not count as read. The kernel and the
// programs of a host complain all day: what they say is a hint at most.
void LineReader::keep_trouble(const Message& message, const LinePlace& place) {
  if (line_end_ == LineEnd::missing || is_guess_) return;
  const bool is_of_a_host = message.from_kernel || message.from_user_space;
  if (is_of_a_host ? !unread_.has_room(TroubleKind::hints) : !unread_.has_room()) return;
  TroubleKind kind = wanted_.trouble_in(message);
  if (kind != TroubleKind::none && is_of_a_host) kind = TroubleKind::hints;
  if (kind == TroubleKind::none || !unread_.take(kind, message.text)) return;
  constexpr std::size_t kMostBytes = 512;
  UnreadTrouble trouble{.tells = kind, .text = std::string(message.text.substr(0, kMostBytes))};
  add_event(std::move(trouble), calls_.speaker(batch_, {}, 0, -1, -1), message.time, place);
}

}  // namespace faultline
