#include "parsers/nccl/nccl_line.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "parsers/scan.h"

namespace faultline {
namespace {

struct Level {
  std::string_view word;
  NcclLevel level;
};
constexpr Level kLevels[] = {
    {"INFO", NcclLevel::info}, {"WARN", NcclLevel::warn},   {"TRACE", NcclLevel::trace},
    {"CALL", NcclLevel::call}, {"ABORT", NcclLevel::abort}, {"ATTN", NcclLevel::info},
};

struct Token {
  std::size_t begin = 0;    // of "NCCL"
  std::size_t message = 0;  // after "NCCL INFO "
  NcclLevel level = NcclLevel::info;
};

// The next "NCCL INFO " (or another level) at or after `from`.
std::optional<Token> next_token(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find("NCCL ", from); at != std::string_view::npos;
       at = text.find("NCCL ", at + 1)) {
    if (at > 0 && text[at - 1] != ' ') continue;
    std::string_view after = text.substr(at + 5);
    for (const Level& level : kLevels) {
      if (!after.starts_with(level.word)) continue;
      std::size_t end = level.word.size();
      if (end < after.size() && after[end] != ' ') continue;
      return Token{at, at + 5 + std::min(end + 1, after.size()), level.level};
    }
  }
  return std::nullopt;
}

bool is_host_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
}

// "node1:615:18953"
bool read_speaker(std::string_view word, NcclLine& line) {
  std::size_t tid = word.rfind(':');
  if (tid == std::string_view::npos || tid == 0) return false;
  std::size_t pid = word.rfind(':', tid - 1);
  if (pid == std::string_view::npos || pid == 0) return false;
  Scan tid_digits(word.substr(tid + 1));
  Scan pid_digits(word.substr(pid + 1, tid - pid - 1));
  if (!tid_digits.decimal(line.tid) || !tid_digits.done()) return false;
  if (!pid_digits.decimal(line.pid) || !pid_digits.done()) return false;
  // A launcher's prefix may stick to the name: "[1,5]<stdout>:node1".
  std::string_view host = word.substr(0, pid);
  std::size_t begin = host.size();
  while (begin > 0 && is_host_character(host[begin - 1])) --begin;
  line.host = host.substr(begin);
  return !line.host.empty();
}

std::string_view last_word(std::string_view text) {
  std::size_t blank = text.rfind(' ');
  return blank == std::string_view::npos ? text : text.substr(blank + 1);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "init.cc:9", also with a path before it, and with blanks in it.
bool names_a_line(std::string_view place) {
  std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == place.size()) return false;
  return std::all_of(place.begin() + static_cast<std::ptrdiff_t>(colon) + 1, place.end(), is_digit);
}

// Reads what stands between [DEV] and NCCL: FILE:LINE (FUNC), a plugin's text, RCCL's microseconds.
void read_place(std::string_view text, NcclLine& line) {
  constexpr std::size_t kMicrosecondDigits = 16;
  std::string_view first = text.substr(0, text.find(' '));
  if (first.size() == kMicrosecondDigits && std::all_of(first.begin(), first.end(), is_digit)) {
    line.timestamp = first;
    text.remove_prefix(first.size());
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
  line.place = text;
  std::size_t open = text.ends_with(')') ? text.rfind(" (") : std::string_view::npos;
  if (open == std::string_view::npos || !names_a_line(text.substr(0, open))) return;
  line.place = text.substr(0, open);
  line.function = text.substr(open + 2, text.size() - open - 3);
}

// "misc/socket.cc:49" at the end of a frame, the rest of which was not pasted.
std::size_t read_lone_place(std::string_view left, NcclLine& line) {
  std::string_view text = left;
  while (text.ends_with(' ')) text.remove_suffix(1);
  std::size_t open = text.ends_with(')') ? text.rfind(" (") : std::string_view::npos;
  std::string_view file = last_word(text.substr(0, open));
  if (!names_a_line(file) || is_digit(file[0]) || file.find('.') == std::string_view::npos)
    return left.size();
  auto begin = static_cast<std::size_t>(file.data() - left.data());
  read_place(text.substr(begin), line);
  return begin;
}

// A number, or a datatype or an operation in the spelling of nccl-tests.
bool is_cell(std::string_view word) {
  constexpr std::string_view kWords[] = {
      "int8", "char",  "uint8",  "int32",    "int",      "uint32",   "int64",  "uint64",
      "half", "float", "double", "bfloat16", "fp8_e4m3", "fp8_e5m2", "f8e4m3", "f8e5m2",
      "sum",  "prod",  "max",    "min",      "avg",      "mulsum",   "none",   "all"};
  if (std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords)) return true;
  return is_digit(word.back()) &&
         std::all_of(word.begin(), word.end(), [](char c) { return is_digit(c) || c == '.'; });
}

// nccl-tests prints a row in two pieces, "8388608 2097152 float sum -1" and "83.33 100.66 100.66
// 0". A line of NCCL that comes after a piece sticks to its last cell: "0node1:615:615 [0] NCCL
// INFO".
void drop_last_cell(std::string_view row, NcclLine& line) {
  constexpr std::size_t kLeastCells = 3;
  const bool unchecked = row.ends_with("  N/") && line.host.starts_with('A');  // "N/A"
  if (unchecked) row.remove_suffix(2);
  if (!row.ends_with("  ")) return;
  std::size_t cells = 0;
  for (std::size_t at = row.find_first_not_of(' '); at != std::string_view::npos;) {
    std::size_t end = std::min(row.find(' ', at), row.size());
    if (!is_cell(row.substr(at, end - at))) return;
    ++cells;
    at = row.find_first_not_of(' ', end);
  }
  if (cells < kLeastCells) return;
  std::string_view rest = line.host;
  if (unchecked) {
    rest.remove_prefix(1);
  } else {
    if (rest.starts_with('-')) rest.remove_prefix(1);
    while (!rest.empty() && is_digit(rest.front())) rest.remove_prefix(1);
  }
  if (!rest.empty() && std::isalpha(static_cast<unsigned char>(rest.front())) != 0)
    line.host = rest;
}

// Reads the frame before a token, from right to left. Returns where the frame begins.
std::size_t read_frame(std::string_view left, NcclLine& line) {
  std::string_view frame = left;
  while (!frame.empty() && frame.back() == ' ') frame.remove_suffix(1);

  // HOST:PID:TID [DEV] FILE:LINE (FUNC): the device is the last number in brackets that follows
  // HOST:PID:TID. A place may hold blanks and brackets too, so the bracket alone decides nothing.
  std::size_t bare_device = std::string_view::npos;
  for (std::size_t open = frame.rfind('['); open != std::string_view::npos;
       open = open == 0 ? std::string_view::npos : frame.rfind('[', open - 1)) {
    Scan scan(frame.substr(open + 1));
    int device = 0;
    if (!scan.integer(device) || !scan.skip("]")) continue;
    std::string_view before = frame.substr(0, open);
    bool spaced = before.ends_with(' ');
    while (before.ends_with(' ')) before.remove_suffix(1);
    if (spaced && read_speaker(last_word(before), line)) {
      drop_last_cell(before.substr(0, static_cast<std::size_t>(line.host.data() - before.data())),
                     line);
      line.device = device;
      scan.skip_blanks();
      read_place(scan.rest(), line);
      return static_cast<std::size_t>(line.host.data() - left.data());
    }
    if (bare_device == std::string_view::npos && (open == 0 || spaced)) bare_device = open;
  }
  if (read_speaker(last_word(frame), line))
    return static_cast<std::size_t>(line.host.data() - left.data());
  if (bare_device != std::string_view::npos) {  // pasted without host and pid
    Scan scan(frame.substr(bare_device + 1));
    scan.integer(line.device);
    scan.skip("]");
    scan.skip_blanks();
    read_place(scan.rest(), line);
    return bare_device;
  }
  return read_lone_place(left, line);
}

// Whether the text before a line shows that the line is quoted: it ends with a quotation mark, or,
// if the line has no frame, there is any text at all.
bool is_quoted(std::string_view before, const NcclLine& line) {
  bool framed = line.device != -1 || !line.host.empty();
  if (framed) return before.ends_with('"') || before.ends_with('\'') || before.ends_with('`');
  return before.find_first_not_of(" \t>") != std::string_view::npos;
}

// Reads "[2025-04-06 22:31:56] " before a frame that begins at `frame`.
std::size_t read_timestamp(std::string_view text, std::size_t frame, NcclLine& line) {
  std::string_view before = text.substr(0, frame);
  while (before.ends_with(' ')) before.remove_suffix(1);
  if (!before.ends_with(']')) return frame;
  std::size_t open = before.rfind('[');
  if (open == std::string_view::npos) return frame;
  std::string_view inside = before.substr(open + 1, before.size() - open - 2);
  if (!parse_rfc3339(inside)) return frame;
  line.timestamp = inside;
  return open;
}

// A line without a frame: "NCCL version 2.21.5+cuda12.4", alone or after a timestamp. The words
// also occur in exceptions and in ncclras's reports, but with other text before or after them.
std::optional<NcclLine> version_line(std::string_view text) {
  constexpr std::string_view kVersion = "NCCL version ";
  std::size_t at = text.find(kVersion);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view number = text.substr(at + kVersion.size());
  while (number.ends_with(' ') || number.ends_with('\r')) number.remove_suffix(1);
  if (number.empty() || !is_digit(number[0]) || number.find(' ') != std::string_view::npos)
    return std::nullopt;
  NcclLine line;
  line.level = NcclLevel::version;
  std::size_t begin = read_timestamp(text, at, line);
  if (text.substr(0, begin).find_first_not_of(" \t>") != std::string_view::npos)
    return std::nullopt;
  line.message = text.substr(at);
  return line;
}

}  // namespace

std::vector<NcclLine> nccl_lines(std::string_view text) {
  // A frame is shorter. Without a bound a line of many quoted levels is read once for each of them.
  constexpr std::size_t kMostFrameBytes = 2048;
  std::vector<NcclLine> lines;
  std::size_t segment = 0;  // where the text begins that no line has yet
  for (auto token = next_token(text, 0); token; token = next_token(text, token->message)) {
    NcclLine line;
    line.level = token->level;
    std::size_t from = std::max(segment, token->begin - std::min(token->begin, kMostFrameBytes));
    std::string_view left = text.substr(from, token->begin - from);
    std::size_t begin = from + read_frame(left, line);
    bool framed = line.device != -1 || !line.host.empty();
    if (!lines.empty() && !framed) continue;  // a message that quotes a line
    begin = segment + read_timestamp(text.substr(segment), begin - segment, line);
    if (!lines.empty()) {
      std::string_view& message = lines.back().message;
      message = message.substr(0, static_cast<std::size_t>(text.data() + begin - message.data()));
    }
    line.message = text.substr(token->message);
    line.quoted = lines.empty() && is_quoted(text.substr(0, begin), line);
    lines.push_back(line);
    segment = token->message;
  }
  if (lines.size() > 1)
    for (NcclLine& line : lines) line.merged = true;
  if (lines.empty())
    if (auto version = version_line(text)) lines.push_back(*version);
  return lines;
}

bool read_plain_info(std::string_view text, NcclLine& line) {
  Scan scan(text);
  if (!scan.until(':', line.host) || line.host.empty()) return false;
  if (!scan.decimal(line.pid) || !scan.skip(":") || !scan.decimal(line.tid)) return false;
  if (!scan.skip(" [") || !scan.integer(line.device) || !scan.skip("] NCCL INFO ")) return false;
  line.message = scan.rest();
  return std::all_of(line.host.begin(), line.host.end(), is_host_character);
}

std::optional<Timestamp> time_of(const NcclLine& line) {
  if (line.timestamp.empty()) return std::nullopt;
  Scan scan(line.timestamp);
  std::int64_t microseconds = 0;
  if (scan.decimal(microseconds) && scan.done())
    return Timestamp(std::chrono::microseconds(microseconds));
  return parse_rfc3339(line.timestamp);
}

}  // namespace faultline
