#include "parsers/torch/python_traceback.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "parsers/nccl/nccl_bare.h"
#include "parsers/pattern.h"
#include "parsers/tool/tool_text.h"
#include "parsers/torch/torch_group.h"
#include "parsers/torch/torch_reports.h"
#include "parsers/torch/torch_watchdog.h"

namespace faultline {

namespace {

using tool_text::ends_as_a_sentence;
using tool_text::trimmed;

constexpr std::string_view kOriginal = "Original Traceback (most recent call last):";
constexpr std::string_view kWhileHandling = "During handling of the above exception";
constexpr std::string_view kDirectCause = "The above exception was the direct cause";
// An exception that Python could not raise, mostly at its exit. It has no consequences.
constexpr std::string_view kIgnored = "Exception ignored ";
// From torch.multiprocessing: the traceback of a process that it started follows.
constexpr std::string_view kOfProcess = "-- Process ";
constexpr std::string_view kTerminated = "terminated with the following error:";

constexpr std::int64_t kWithPid = 128;  // a flag of the saved form: a pid follows
constexpr std::size_t kMostSpeakers = 4096;
constexpr std::size_t kMostLastLines = 4;     // at the end of a traceback: two frames with code
constexpr std::size_t kMostTextBytes = 1024;  // in a line or a message
constexpr int kMostForeign = 64;              // foreign lines before the next line of a traceback

struct Frame {
  std::string_view file;
  std::int64_t line = 0;
  std::string_view function;
};

//   File "train.py", line 210, in main
bool read_frame(std::string_view text, Frame& frame) {
  if (!tool_text::take_front(text, "File \"") ||
      !tool_text::take_until(text, "\", line ", frame.file))
    return false;
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = number_in<std::int64_t>(text.substr(0, digits));
  if (!number) return false;
  frame.line = *number;
  text.remove_prefix(digits);
  if (tool_text::take_front(text, ", in ")) frame.function = trimmed(text);
  return true;
}

bool is_frame(std::string_view text) {
  Frame frame;
  return read_frame(text, frame) && !frame.function.empty();
}

bool is_marker(std::string_view text) {
  return text.starts_with("[Previous line repeated ") ||
         text.find_first_not_of("^~- ") == std::string_view::npos;
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

// Whether a name ends like the names of most exceptions. looks_like_class() accepts others.
bool ends_like_exception(std::string_view name) {
  for (const std::string_view ending :
       {"Error", "Exception", "Interrupt", "Exit", "Warning", "Failure", "Timeout", "Abort",
        "Iteration", "Empty", "Full"})
    if (name.ends_with(ending)) return true;
  return false;
}

// package.Again, BadSample; not "INFO" or "Epoch".
bool looks_like_class(std::string_view type, std::string_view last) {
  const auto capitals = std::ranges::count_if(last, [](char c) { return c >= 'A' && c <= 'Z'; });
  if (last.front() < 'A' || last.front() > 'Z') return false;
  if (static_cast<std::size_t>(capitals) == last.size()) return false;
  return type.size() > last.size() || capitals > 1;
}

struct Raised {
  std::string_view type;
  std::string_view message;
};

// ValueError: sample 17 is truncated
std::optional<Raised> read_exception(std::string_view text, bool surely) {
  std::size_t size = 0;
  while (size < text.size() && is_name_character(text[size])) ++size;
  const std::string_view type = text.substr(0, size);
  const std::string_view last = type.substr(type.rfind('.') + 1);
  const std::string_view rest = text.substr(size);
  if (last.empty() || !(rest.empty() || rest == ":" || rest.starts_with(": "))) return std::nullopt;
  if (!ends_like_exception(last) && (surely || !looks_like_class(type, last))) return std::nullopt;
  return Raised{type, rest.size() > 2 ? rest.substr(2) : std::string_view()};
}

//     raise ValueError(
// You can't train a model that …
// Programs that print tracebacks themselves leave out the class, which the last line of code has.
std::optional<Raised> read_message_alone(std::string_view code, std::string_view text) {
  // If the code has the message, too, this may be a line of something else.
  if (!tool_text::take_front(code, "raise ") || !code.ends_with('(')) return std::nullopt;
  const std::string_view type = code.substr(0, code.size() - 1);
  // What begins otherwise may be the rest of a line of another process.
  constexpr std::string_view kQuotes = "'\"`";
  const bool begins = !text.empty() && (is_name_character(text.front()) ||
                                        kQuotes.find(text.front()) != std::string_view::npos);
  if (type.empty() || !std::ranges::all_of(type, is_name_character) ||
      !ends_like_exception(type.substr(type.rfind('.') + 1)) || !begins ||
      !ends_as_a_sentence(text))
    return std::nullopt;
  return Raised{type, text};
}

// Whether the class is whole in a line that may be cut: a message follows it, or the name has one
// of the usual ends.
bool is_whole(const Raised& raised) {
  return !raised.message.empty() || raised.type.ends_with("Error") ||
         raised.type.ends_with("Exception") || raised.type.ends_with("Interrupt");
}

bool begins_original(std::string_view text) {
  return text.starts_with(kOfProcess) && text.ends_with(kTerminated);
}

// In an exception group, the tracebacks of its exceptions follow its own, with bars before them.
std::string_view without_bar(std::string_view line) {
  const std::size_t bar = line.find_first_not_of(' ');
  if (bar == line.npos || line[bar] != '|') return line;
  line.remove_prefix(bar + 1);
  if (line.starts_with(' ')) line.remove_prefix(1);
  return line;
}

bool begins_traceback(std::string_view text) {
  if (text.starts_with(kIgnored)) return true;
  return text.ends_with(kTracebackHead) || chains_tracebacks(text) || begins_original(text);
}

// An exception of PyTorch about NCCL has further lines with NCCL's last error:
//   Last error:
//   Cuda failure 2 'out of memory'
constexpr std::string_view kOfNccl = "NCCL error in: ";
constexpr std::string_view kLastError = "Last error:";

bool may_quote_nccl(const Raised& raised) { return raised.message.starts_with(kOfNccl); }

// RuntimeError: NCCL error in: ../torch/lib/c10d/ProcessGroupNCCL.cpp:911, internal error
// It is also pasted without its traceback. Sentences that only mention the error have no file and
// line.
std::optional<Raised> read_lone_nccl_error(std::string_view text) {
  static const Pattern kPlace(R"(^NCCL error in: \S+\.(?:cpp|cc|h|hpp):\d+, \S)");
  if (text.find(kOfNccl) == std::string_view::npos) return std::nullopt;
  const auto raised = read_exception(text, true);
  if (!raised || !kPlace.find(raised->message)) return std::nullopt;
  return raised;
}

// A line between the exception and NCCL's last error: "ncclSystemError: System call (e.g. socket)
// failed".
bool explains_result(std::string_view text) {
  return text.starts_with("nccl") && text.find("Error: ") != std::string_view::npos;
}

struct Open {
  bool in_frames = false;  // the head was read, or is missing
  bool headless = false;   // the head is missing, as after `tail`
  bool after_frame = false;
  bool follows = false;
  bool original = false;
  bool ignored = false;
  bool over = false;  // an ignored exception was read; one raised while it was handled may follow
  std::string file;
  std::int64_t file_line = 0;
  std::string function;
  SourceLine head;
  std::deque<SourceLine> last;
  int foreign = 0;
  // The exception is held until it is known whether it quotes NCCL.
  enum class Quote { none, awaited, next } quote = Quote::none;
  std::string type;
  std::string message;
  KeptLine raised;
};

SourceLine kept(const DocumentLine& line) {
  KeptLine whole;
  whole.keep(line);
  return {whole.number, whole.offset, std::move(whole.text)};
}

void save_line(const SourceLine& line, SavedBytesWriter& saved) {
  saved.number(static_cast<std::int64_t>(line.line));
  saved.number(static_cast<std::int64_t>(line.offset));
  saved.text(line.text);
}

SourceLine restored_line(SavedBytesReader& saved) {
  SourceLine line;
  line.line = static_cast<std::uint64_t>(saved.number());
  line.offset = static_cast<std::uint64_t>(saved.number());
  line.text = saved.text();
  return line;
}

class Tracebacks : public Document {
 public:
  Line feed(const DocumentLine& line, std::vector<DocumentReading>& readings) override {
    const std::string_view body = without_bar(line.text);
    const bool is_in_group = body.size() < line.text.size();
    const std::string_view text = trimmed(body);
    const Key key = key_of(line, text);
    const auto lone = open_.contains(key) ? std::nullopt : read_lone_nccl_error(text);
    if (lone) return begin_lone(key, *lone, line, readings);
    if (begins_traceback(text)) {
      if (const auto held = open_.find(key);
          held != open_.end() && held->second.quote != Open::Quote::none)
        give_held(held->second, readings);
      return begin(key, text, is_in_group, line);
    }
    if (open_.empty() && is_frame(text)) open_[key] = {.in_frames = true, .headless = true};
    const auto known = open_.find(key);
    if (known == open_.end()) return open_.empty() ? Line::after : Line::foreign;
    Open& open = known->second;
    if (open.quote != Open::Quote::none) return read_quote(known, text, line, readings);
    if (!open.in_frames) return wait_for_head(known, text);
    if (open.over) {
      if (text.empty()) return Line::part;
      open_.erase(known);
      return open_.empty() ? Line::after : Line::foreign;
    }

    if (Frame frame; read_frame(text, frame)) {
      open.file = frame.file.substr(0, kMostTextBytes);
      open.file_line = frame.line;
      open.function = frame.function.substr(0, kMostTextBytes);
      open.after_frame = true;
      keep_last(open, line);
      return Line::part;
    }
    if (text.empty()) return Line::part;
    if (is_marker(text)) return Line::part;
    const bool indented = !body.empty() && (body.front() == ' ' || body.front() == '\t');
    if (open.after_frame && indented) {
      open.after_frame = false;
      keep_last(open, line);
      return Line::part;
    }
    // If copied text lost its indentation, the line after a frame is code, unless it is surely an
    // exception.
    const bool surely = open.headless || (open.after_frame && !open.file.empty());
    const bool may_end_here = open.ignored || !line.is_remark;
    auto raised = read_exception(text, surely);
    if (!raised && !indented && !open.after_frame && !line.cut && !open.last.empty())
      raised = read_message_alone(trimmed(open.last.back().text), text);
    if (raised && may_end_here) {
      if (!line.cut && may_quote_nccl(*raised)) {
        hold(open, *raised, line);
        return Line::part;
      }
      if (open.ignored) {
        open.over = true;
        return Line::part;
      }
      if (!line.cut || is_whole(*raised)) give(open, *raised, line, readings);
      open_.erase(known);
      return open_.empty() ? Line::last : Line::part;
    }
    if (open.after_frame) {
      open.after_frame = false;
      if (text.front() != '[') {
        keep_last(open, line);
        return Line::part;
      }
    }
    if (indented) return Line::part;  // code over several lines
    return miss(known);
  }

  void finish(std::vector<DocumentReading>& readings) override {
    for (auto& [key, open] : open_)
      if (open.quote != Open::Quote::none) give_held(open, readings);
    open_.clear();
  }

  std::string_view dialect() const override { return "python"; }

  std::size_t size() const override {
    std::size_t bytes = 0;
    for (const auto& [key, open] : open_) {
      bytes += sizeof(Open) + key.host.size() + open.file.size() + open.function.size() +
               open.head.text.size() + open.type.size() + open.message.size() +
               open.raised.text.size();
      for (const SourceLine& line : open.last) bytes += sizeof(line) + line.text.size();
    }
    return bytes;
  }

  void save(SavedBytesWriter& saved) const override {
    saved.number(static_cast<std::int64_t>(open_.size()));
    for (const auto& [key, open] : open_) {
      saved.number(key.rank);
      saved.text(key.host);
      saved.number((open.in_frames ? 1 : 0) | (open.after_frame ? 2 : 0) | (open.follows ? 4 : 0) |
                   (open.original ? 8 : 0) | (open.ignored ? 16 : 0) | (open.over ? 32 : 0) |
                   (open.headless ? 64 : 0) | (key.pid != 0 ? kWithPid : 0));
      if (key.pid != 0) saved.number(key.pid);
      saved.text(open.file);
      saved.number(open.file_line);
      saved.text(open.function);
      save_line(open.head, saved);
      saved.number(static_cast<std::int64_t>(open.last.size()));
      for (const SourceLine& line : open.last) save_line(line, saved);
      saved.number(open.foreign);
      saved.number(static_cast<std::int64_t>(open.quote));
      if (open.quote == Open::Quote::none) continue;
      saved.text(open.type);
      saved.text(open.message);
      open.raised.save(saved);
    }
  }

  void restore(SavedBytesReader& saved) override {
    const std::int64_t count = saved.number();
    for (std::int64_t i = 0; i < count && saved.ok(); ++i) {
      Key key{.rank = saved.small_number(), .host = std::string(saved.text())};
      const std::int64_t flags = saved.number();
      if ((flags & kWithPid) != 0) key.pid = saved.number();
      Open& open = open_[std::move(key)];
      open.in_frames = (flags & 1) != 0;
      open.after_frame = (flags & 2) != 0;
      open.follows = (flags & 4) != 0;
      open.original = (flags & 8) != 0;
      open.ignored = (flags & 16) != 0;
      open.over = (flags & 32) != 0;
      open.headless = (flags & 64) != 0;
      open.file = saved.text();
      open.file_line = saved.number();
      open.function = saved.text();
      open.head = restored_line(saved);
      const std::int64_t lines = saved.number();
      for (std::int64_t n = 0; n < lines && saved.ok(); ++n)
        open.last.push_back(restored_line(saved));
      open.foreign = saved.small_number();
      const int quote = saved.small_number();
      if (quote != 1 && quote != 2) continue;
      open.quote = Open::Quote{quote};
      open.type = saved.text();
      open.message = saved.text();
      open.raised.restore(saved);
    }
  }

 private:
  // Who prints a traceback. Labels of Ray's workers have no rank, but a pid.
  struct Key {
    int rank = -1;
    std::string host;
    std::int64_t pid = 0;
    auto operator<=>(const Key&) const = default;
  };
  using Opens = std::map<Key, Open>;

  // Ray prints what several workers say only once, so a traceback may go on behind the label of
  // another worker, or without a label.
  Key key_of(const DocumentLine& line, std::string_view text) const {
    Key key{line.rank, std::string(line.host), line.pid};
    if (open_.contains(key) || begins_traceback(text)) return key;
    const auto is_like_it = [&](const auto& open) {
      return open.first.rank == key.rank && open.first.host == key.host;
    };
    const auto other = std::ranges::find_if(open_, is_like_it);
    const bool is_only = other != open_.end() && std::ranges::count_if(open_, is_like_it) == 1;
    return is_only ? other->first : key;
  }

  Line begin(const Key& key, std::string_view text, bool is_in_group, const DocumentLine& line) {
    if (open_.size() == kMostSpeakers && !open_.contains(key)) return Line::foreign;
    Open& open = open_[key];
    if (text.find(kTracebackHead) == std::string_view::npos) {
      const bool goes_on = open.over;
      open = {};
      open.original = begins_original(text);
      const bool is_ignored = text.starts_with(kIgnored) || line.is_remark;
      open.follows = !open.original && !is_ignored;
      open.ignored = is_ignored || (goes_on && open.follows);
      return Line::part;
    }
    const bool waited = !open.in_frames;
    const bool follows = open.follows && waited;
    const bool original = open.original && waited;
    const bool ignored = line.is_remark || (open.ignored && waited);
    open = {};
    open.follows = follows;
    open.in_frames = true;
    open.ignored = ignored;
    open.original =
        original || text.ends_with(kOriginal) || (is_in_group && text == kTracebackHead);
    open.head = kept(line);
    return Line::part;
  }

  Line begin_lone(const Key& key, const Raised& raised, const DocumentLine& line,
                  std::vector<DocumentReading>& readings) {
    if (open_.size() == kMostSpeakers) return Line::foreign;
    Open& open = open_[key];
    hold(open, raised, line);
    if (!line.cut) return Line::part;
    give_held(open, readings);
    open_.erase(key);
    return open_.empty() ? Line::last : Line::part;
  }

  // An empty line separates "During handling of ..." from the head of the next traceback.
  Line wait_for_head(Opens::iterator at, std::string_view text) {
    if (text.empty()) return Line::part;
    // An ignored exception has no traceback if none follows in the next line.
    if (at->second.ignored) at->second.foreign = kMostForeign;
    return miss(at);
  }

  Line miss(Opens::iterator at) {
    if (++at->second.foreign > kMostForeign) open_.erase(at);
    return open_.empty() ? Line::after : Line::foreign;
  }

  static void hold(Open& open, const Raised& raised, const DocumentLine& line) {
    open.quote = Open::Quote::awaited;
    open.type = raised.type.substr(0, kMostTextBytes);
    open.message = trimmed(raised.message).substr(0, kMostTextBytes);
    open.raised.keep(line);
    open.foreign = 0;
  }

  Line read_quote(Opens::iterator at, std::string_view text, const DocumentLine& line,
                  std::vector<DocumentReading>& readings) {
    Open& open = at->second;
    const bool is_next = open.quote == Open::Quote::next;
    if (!is_next && !line.cut && (text == kLastError || explains_result(text))) {
      if (text == kLastError) open.quote = Open::Quote::next;
      return Line::part;
    }
    const bool is_quote = is_next && !text.empty() && !line.cut;
    if (is_quote) open.message += fmt::format("; last error: {}", text.substr(0, kMostTextBytes));
    const std::size_t held = readings.size();
    give_held(open, readings);
    if (auto* exception = std::get_if<PythonException>(&readings[held].reading.fact);
        is_quote && exception != nullptr)
      exception->lines.push_back(kept(line));
    if (is_quote) readings.push_back(quoted(text));
    open_.erase(at);
    if (!is_quote) return open_.empty() ? Line::after : Line::foreign;
    return open_.empty() ? Line::last : Line::part;
  }

  // NCCL's last error counts as a warning of NCCL, although PyTorch prints it.
  static DocumentReading quoted(std::string_view text) {
    const BareWarning bare = bare_warning(text.substr(0, kMostTextBytes));
    return {.reading = {.fact = Remark{.dialect = "nccl",
                                       .level = "warn",
                                       .place = std::string(kLastError),
                                       .function = {},
                                       .text = std::string(bare.text)}},
            .line = {}};
  }

  static void give_held(Open& open, std::vector<DocumentReading>& readings) {
    const Raised raised{open.type, open.message};
    const DocumentLine line{.text = open.raised.text,
                            .whole = open.raised.text,
                            .number = open.raised.number,
                            .offset = open.raised.offset,
                            .host = open.raised.host,
                            .time = open.raised.time,
                            .rank = open.raised.rank};
    const std::size_t first = readings.size();
    give(open, raised, line, readings);
    for (std::size_t i = first; i < readings.size(); ++i) readings[i].line = open.raised;
  }

  static void keep_last(Open& open, const DocumentLine& line) {
    open.foreign = 0;
    open.last.push_back(kept(line));
    if (open.last.size() > kMostLastLines) open.last.pop_front();
  }

  static void give(Open& open, const Raised& raised, const DocumentLine& line,
                   std::vector<DocumentReading>& readings) {
    PythonException exception{
        .type = std::string(raised.type.substr(0, kMostTextBytes)),
        .message = std::string(trimmed(raised.message).substr(0, 2 * kMostTextBytes)),
        .file = std::move(open.file),
        .file_line = open.file_line,
        .function = std::move(open.function),
        .follows = open.follows,
        .original = open.original};
    if (open.head.line != 0) exception.lines.push_back(std::move(open.head));
    for (SourceLine& last : open.last) exception.lines.push_back(std::move(last));
    exception.lines.push_back(kept(line));
    readings.push_back({.reading = {.fact = std::move(exception)}, .line = {}});
    if (line.cut && !ends_as_a_sentence(raised.message)) return;
    std::vector<Reading> told;
    parse_torch_raised(raised.message, told);
    for (Reading& reading : told) readings.push_back({.reading = std::move(reading), .line = {}});
  }

  Opens open_;
};

}  // namespace

bool chains_tracebacks(std::string_view text) {
  return text.starts_with(kWhileHandling) || text.starts_with(kDirectCause);
}

bool begins_python_traceback(std::string_view text) {
  text = trimmed(without_bar(text));
  return begins_traceback(text) || read_lone_nccl_error(text) || is_frame(text);
}

std::unique_ptr<Document> make_python_traceback() { return std::make_unique<Tracebacks>(); }

}  // namespace faultline
