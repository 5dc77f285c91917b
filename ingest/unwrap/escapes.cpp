#include "ingest/unwrap/escapes.h"

#include "ingest/unwrap/scan.h"

namespace faultline {

namespace {

constexpr char kEscape = '\x1b';
constexpr char kBell = '\a';
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool contains(std::string_view text, char c) { return text.find(c) != std::string_view::npos; }

// How long the escape sequence at the front is. ESC [ 3 6 m is a colour, ESC ] ... BEL a title.
std::size_t escape_sequence_size(std::string_view text) {
  if (text.size() < 2) return text.size();
  std::size_t size = 2;
  if (text[1] == '[') {
    while (size < text.size() && text[size] >= 0x20 && text[size] < 0x40) ++size;
    const bool ended = size < text.size() && text[size] >= 0x40 && text[size] < 0x7f;
    return ended ? size + 1 : size;
  }
  if (text[1] == ']') {
    const std::size_t end = text.find_first_of("\a\x1b", size);
    if (end == std::string_view::npos) return size;  // unfinished: the rest may be text
    return text[end] == kBell ? end + 1 : std::min(end + 2, text.size());
  }
  return size;
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string_view without_control_bytes(std::string_view text, TextPool& pool) {
  take(text, kByteOrderMark);
  while (text.ends_with('\r')) text.remove_suffix(1);
  // A file that was truncated under its writer begins with a hole, which can be long.
  while (text.starts_with('\0')) text.remove_prefix(1);
  // Pagers and `cat -v` show NUL bytes like this.
  if (text.starts_with("^@^@"))
    while (text.starts_with("^@")) text.remove_prefix(2);
  // A terminal shows the key Ctrl-C like this, before the next line of a program.
  if (text.size() > 2) take(text, "^C");
  if (!contains(text, kEscape) && !contains(text, '\0')) return text;

  const std::span<char> room = pool.room(text.size());
  std::size_t size = 0;
  while (!text.empty()) {
    if (text.front() == kEscape) {
      text.remove_prefix(escape_sequence_size(text));
      continue;
    }
    if (text.front() != '\0') room[size++] = text.front();
    text.remove_prefix(1);
  }
  while (size > 0 && room[size - 1] == '\r') --size;
  return {room.data(), size};
}

std::string_view undo_hex_escapes(std::string_view text, TextPool& pool) {
  if (!contains(text, '\\')) return text;
  const std::span<char> room = pool.room(text.size());
  std::size_t size = 0;
  while (!text.empty()) {
    if (text.size() >= 4 && text[0] == '\\' && text[1] == 'x' && hex_digit(text[2]) >= 0 &&
        hex_digit(text[3]) >= 0) {
      room[size++] = static_cast<char>(hex_digit(text[2]) * 16 + hex_digit(text[3]));
      text.remove_prefix(4);
    } else {
      room[size++] = text.front();
      text.remove_prefix(1);
    }
  }
  return {room.data(), size};
}

}  // namespace faultline
