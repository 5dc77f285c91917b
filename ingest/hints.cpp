#include "ingest/hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "ingest/unwrap/shipper_json.h"

namespace faultline {
namespace {

using namespace std::string_view_literals;

// Forms that are known by their bytes. The rows are tried from top to bottom.
struct Magic {
  std::size_t at;
  std::string_view bytes;
  std::size_t and_at;
  std::string_view and_bytes;  // empty: the first are enough
  std::string_view what;       // "This is ..."
  std::string_view advice;
};

constexpr std::string_view kPacked =
    ", which Faultline cannot read; unpack it, or send gzip, zstd, xz, bzip2, zip or tar.";
constexpr std::string_view kPicture = " picture; send the log in it as text.";
constexpr std::string_view kProgram = ", not a log; send what it printed.";
constexpr std::string_view kCapture = " packet capture; send it as text: tcpdump -n -r FILE.";
constexpr std::string_view kEncrypted = "; decrypt it and send it again.";
constexpr std::string_view kDocument = "; send the log in it as plain text.";
constexpr std::string_view kData = ", not a log.";

constexpr Magic kMagics[] = {
    {0, "7z\xbc\xaf\x27\x1c", 0, "", "7z", kPacked},
    {0, "Rar!\x1a\7", 0, "", "RAR", kPacked},
    {0, "\4\x22\x4d\x18", 0, "", "lz4", kPacked},
    {0, "LZIP\1", 0, "", "lzip", kPacked},
    {0, "\x89LZO\0\r\n\x1a\n"sv, 0, "", "lzop", kPacked},
    {0, "\x5d\0\0\x80\0"sv, 0, "", "the old .lzma", kPacked},
    {0, "\x5d\0\0\x40\0"sv, 0, "", "the old .lzma", kPacked},
    {0, "\x1f\x9d", 0, "", "the .Z of compress", kPacked},
    {0, "\xff\6\0\0sNaPpY"sv, 0, "", "snappy", kPacked},
    {0, "!<arch>\n", 0, "", "an archive of ar", kPacked},
    {0, "070701", 6, "0", "an archive of cpio", kPacked},
    {0, "070707", 6, "0", "an archive of cpio", kPacked},
    {0, "\xc7\x71", 0, "", "an archive of cpio", kPacked},
    {0, "%PDF-", 0, "", "a PDF", "; send the original text, or the output of pdftotext."},
    {0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0, "", "a document of an office program", kDocument},
    {0, "{\\rtf1", 0, "", "rich text (RTF)", kDocument},
    {0, "\177ELF", 16, "\4\0"sv, "a core dump",
     "; send its stacks as text: gdb -batch -ex 'thread apply all bt' PROGRAM CORE."},
    {0, "\177ELF", 0, "", "a program or a library (ELF)", kProgram},
    {0, "\xca\xfe\xba\xbe\0\0\0"sv, 0, "", "a compiled program", kProgram},
    {0, "\0asm"sv, 0, "", "a compiled program", kProgram},
    {0, "\x89PNG\r\n\x1a\n", 0, "", "a PNG", kPicture},
    {0, "\xff\xd8\xff", 0, "", "a JPEG", kPicture},
    {0, "GIF87a", 0, "", "a GIF", kPicture},
    {0, "GIF89a", 0, "", "a GIF", kPicture},
    {0, "RIFF", 8, "WEBP", "a WebP", kPicture},
    {0, "SQLite format 3\0"sv, 0, "", "an SQLite database",
     "; send it as text (from Nsight Systems: nsys stats FILE)."},
    {0, "LPKSHHRH", 0, "", "a journal file of systemd",
     "; send it as text: journalctl --file FILE -o export."},
    {0, "\xd4\xc3\xb2\xa1", 0, "", "a", kCapture},
    {0, "\xa1\xb2\xc3\xd4", 0, "", "a", kCapture},
    {0, "\x4d\x3c\xb2\xa1", 0, "", "a", kCapture},
    {0, "\n\r\r\n", 0, "", "a", kCapture},
    {0, "\2\0\0\0\0\0\0\0~\0\0\0"sv, 0, "", "a list of logins and boots (wtmp)",
     "; send it as text: last -x -F -f FILE."},
    {0, "PERFILE2", 0, "", "a recording of perf", "; send it as text: perf script -i FILE."},
    {0, "PAR1", 4, "\x15", "a Parquet table", "; send its log lines as text, one on each line."},
    {0, "\x89HDF\r\n\x1a\n", 0, "", "HDF5", kData},
    {0, "\x93NUMPY", 0, "", "an array of NumPy", kData},
    {0, "Salted__", 0, "", "encrypted (openssl enc)", kEncrypted},
    {0, "\x85\1\x0c", 0, "", "encrypted (GnuPG)", kEncrypted},
    {0, "-----BEGIN PGP MESSAGE-----", 0, "", "encrypted (GnuPG)", kEncrypted},
};

enum class Match { no, so_far, yes };

Match match_at(std::string_view start, std::size_t at, std::string_view bytes) {
  const std::string_view there = start.substr(std::min(at, start.size()), bytes.size());
  if (there != bytes.substr(0, there.size())) return Match::no;
  return there.size() == bytes.size() ? Match::yes : Match::so_far;
}

// A text that each log line would have once: it shows how many lines a body of one line was made
// of. A 0 stands for any digit. `certain`: one line may well have fewer of these.
struct Mark {
  std::string_view text;
  std::uint64_t certain;
};
constexpr std::array<Mark, BodyLook::kMarks> kLineMarks{{{" NCCL INFO ", 2},
                                                         {" NCCL WARN ", 2},
                                                         {" NCCL TRACE ", 2},
                                                         {"NVRM: ", 2},
                                                         {" kernel: ", 2},
                                                         {".000000] ", 2},
                                                         {"0000-00-00T00:00:00", 8},
                                                         {"}{", 2}}};
constexpr std::size_t kLongestMark = 19;

bool is_marked(std::string_view text, std::size_t at, std::string_view mark) {
  for (std::size_t i = 0; i < mark.size(); ++i)
    if (mark[i] == '0' ? text[at + i] < '0' || text[at + i] > '9' : text[at + i] != mark[i])
      return false;
  return true;
}

std::uint64_t marks_in(std::string_view text, std::string_view mark) {
  std::uint64_t found = 0;
  for (std::size_t at = 0; at + mark.size() <= text.size(); ++at)
    if (is_marked(text, at, mark)) ++found;
  return found;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") + 1 - first);
}

bool begins_ignoring_case(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         std::equal(lower.begin(), lower.end(), text.begin(), [](char l, char c) {
           return l == static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
         });
}

std::size_t hex_escapes_in(std::string_view text) {
  const auto is_hex = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
  std::size_t count = 0;
  for (std::size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1))
    if (at + 2 < text.size() && is_hex(text[at + 1]) && is_hex(text[at + 2])) ++count;
  return count;
}

using Told = std::optional<std::string>;

Told html_page(const BodyLook& body, const BodyCounts&) {
  const std::string_view head = trimmed(body.head());
  if (!begins_ignoring_case(head, "<!doctype html") && !begins_ignoring_case(head, "<html"))
    return std::nullopt;
  return "This is an HTML page, not a log, most likely of a login or an error. Look at it, and "
         "fetch the log from its raw URL.";
}

Told name_of_a_file(const BodyLook& body, const BodyCounts& counts) {
  constexpr std::size_t kLongestName = 255;
  std::string_view name = trimmed(body.head());
  if (counts.recognized > 0 || !body.one_line() || name.empty() || body.bytes() > kLongestName ||
      name.find_first_of(" \t<>{}\"") != std::string_view::npos)
    return std::nullopt;
  const std::size_t at = name.find('@');
  if (at != std::string_view::npos) name.remove_prefix(at + 1);
  if (name.find_first_of("./") == std::string_view::npos) return std::nullopt;
  return fmt::format(
      "The body is the name of a file, not its content: send it with curl --data-binary @{}.",
      name);
}

Told percent_encoded(const BodyLook& body, const BodyCounts&) {
  constexpr std::size_t kCertain = 4;
  if (!body.one_line() || body.head().find(' ') != std::string_view::npos ||
      hex_escapes_in(body.head()) < kCertain)
    return std::nullopt;
  return "The body is percent-encoded like a web form (curl --data-urlencode): send the file as it "
         "is, with curl --data-binary @FILE.";
}

Told base64(const BodyLook& body, const BodyCounts& counts) {
  constexpr std::size_t kCertain = 60;
  const std::string_view head = trimmed(body.head());
  if (counts.recognized > 0 || head.size() < kCertain ||
      head.find_first_not_of(
          "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\r\n") !=
          std::string_view::npos)
    return std::nullopt;
  // A hex dump or a word that repeats is something else.
  const bool mixed = std::ranges::any_of(head, [](char c) { return std::islower(c) != 0; }) &&
                     std::ranges::any_of(head, [](char c) { return std::isupper(c) != 0; });
  if (!mixed) return std::nullopt;
  return "This is base64; decode it and send the result: base64 -d FILE.";
}

Told newlines_stripped(const BodyLook& body, const BodyCounts& counts) {
  if (!body.one_line() || body.lines_in_one() < 2) return std::nullopt;
  // JSON records on one line are read one by one all the same; some shippers send them like this.
  if (counts.recognized > 0 && body.head().starts_with('{')) return std::nullopt;
  return fmt::format(
      "The whole body is one line of {} bytes and holds {} log lines: curl -d strips newlines; "
      "send it with --data-binary @FILE.",
      body.bytes(), body.lines_in_one());
}

Told carriage_returns(const BodyLook& body, const BodyCounts&) {
  if (!body.one_line() || std::ranges::count(trimmed(body.head()), '\r') < 2) return std::nullopt;
  return "Its lines end in carriage returns only; make them newlines: tr '\\r' '\\n' < FILE.";
}

Told json_without_lines(const BodyLook& body, const BodyCounts& counts) {
  const std::string_view head = trimmed(body.head());
  const bool is_json = head.starts_with('{') || head.starts_with("[{") || head.starts_with("[\"") ||
                       (head.starts_with('[') && trimmed(head.substr(1)).starts_with('{'));
  if (!is_json || counts.recognized > 0 || counts.lines == 0) return std::nullopt;
  if (names_a_line_field(head)) {
    if (counts.lines > counts.skipped) return std::nullopt;
    return "This is one JSON list, too large for a line; send one object on each line: "
           "jq -c '.[]' FILE.";
  }
  return fmt::format(
      "This is JSON, but no field holds a log line (looked for {}); send the lines themselves, or "
      "one object on each line with one of these fields.",
      names_of_line_fields());
}

Told binary(const BodyLook& body, const BodyCounts& counts) {
  const auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t' &&
           c != '\x1b' && c != '\b' && c != '\f';
  };
  constexpr std::ptrdiff_t kOneIn = 32;
  const std::ptrdiff_t controls = std::ranges::count_if(body.head(), is_control);
  if (counts.recognized > 0 || controls == 0 ||
      controls < static_cast<std::ptrdiff_t>(body.head().size()) / kOneIn)
    return std::nullopt;
  return "This is binary data of an unknown form; send the log as text, or packed with gzip, zstd, "
         "xz, bzip2, zip or tar.";
}

Told overlong_lines(const BodyLook&, const BodyCounts& counts) {
  if (counts.skipped == 0 || counts.skipped * 2 < counts.lines) return std::nullopt;
  return fmt::format("{} of {} lines are longer than 1 MiB or binary, and were not read.",
                     counts.skipped, counts.lines);
}

Told nothing_known(const BodyLook&, const BodyCounts& counts) {
  if (counts.lines == 0 || counts.recognized > 0) return std::nullopt;
  return fmt::format(
      "Not one of {} lines has a known form; send what NCCL (NCCL_DEBUG=INFO), the kernel (dmesg, "
      "journalctl -k), PyTorch or the launcher printed.",
      counts.lines);
}

// What can be wrong with a text. Only the first that applies is said; the later ones would say the
// same less well.
constexpr Told (*kTexts[])(const BodyLook&, const BodyCounts&) = {
    html_page,        name_of_a_file,     percent_encoded, base64,         newlines_stripped,
    carriage_returns, json_without_lines, binary,          overlong_lines, nothing_known,
};

}  // namespace

UnreadableForm unreadable_form(std::string_view start) {
  UnreadableForm form;
  for (const Magic& magic : kMagics) {
    const Match first = match_at(start, magic.at, magic.bytes);
    if (first == Match::no) continue;
    const Match second = match_at(start, magic.and_at, magic.and_bytes);
    if (first == Match::yes && second == Match::yes) {
      if (!form.undecided) form.hint = fmt::format("This is {}{}", magic.what, magic.advice);
      return form;
    }
    form.undecided = form.undecided || second != Match::no;
  }
  return form;
}

void BodyLook::feed(std::string_view bytes) {
  if (bytes.empty()) return;
  bytes_ += bytes.size();
  if (head_.size() < kHeadBytes) head_ += bytes.substr(0, kHeadBytes - head_.size());
  if (newlines_ > 0) return;  // it has more than one line: the rest does not matter
  if (newline_last_) newlines_ = 1;
  const std::size_t newline = bytes.find('\n');
  if (newline != std::string_view::npos && newline + 1 < bytes.size()) newlines_ = 1;
  newline_last_ = newline != std::string_view::npos;
  if (newlines_ == 0) count_marks(bytes);
}

void BodyLook::count_marks(std::string_view bytes) {
  for (std::size_t i = 0; i < kMarks; ++i) {
    const std::string_view mark = kLineMarks[i].text;
    marks_[i] += marks_in(bytes, mark);
    // A mark that lies across the border between two stretches of bytes.
    std::string border = last_.substr(last_.size() - std::min(mark.size() - 1, last_.size()));
    border += bytes.substr(0, mark.size() - 1);
    marks_[i] += marks_in(border, mark);
  }
  last_ += bytes.substr(bytes.size() - std::min(bytes.size(), kLongestMark));
  if (last_.size() > kLongestMark) last_.erase(0, last_.size() - kLongestMark);
}

std::uint64_t BodyLook::lines_in_one() const {
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < kMarks; ++i)
    if (marks_[i] >= kLineMarks[i].certain) most = std::max(most, marks_[i]);
  return most;
}

std::vector<Hint> BodyLook::hints(const BodyCounts& counts) const {
  if (counts.refused || (bytes_ == 0 && counts.may_be_empty)) return {};
  if (bytes_ == 0)
    return {
        {"The body is empty. If the file is not, send it with curl --data-binary @FILE or -T "
         "FILE."}};
  for (const auto tell : kTexts)
    if (const Told told = tell(*this, counts)) return {{*told, tell != nothing_known}};
  return {};
}

}  // namespace faultline
