#include "doors/syslog_framing.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace faultline {
namespace {

// A count has at most so many digits; a longer row of digits begins a line.
constexpr std::size_t kMostDigits = 8;

constexpr char kTlsHandshake = 0x16;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Some senders end a message with NUL.
bool ends_line(char c) { return c == '\n' || c == '\0'; }

// "GET /metrics HTTP/1.1"
bool asks_for_http(std::string_view line) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  constexpr std::string_view kVersion = " HTTP/";
  const std::size_t at = line.rfind(kVersion);
  return at != std::string_view::npos && line.size() == at + kVersion.size() + 3 &&
         !line.starts_with('<');
}

}  // namespace

SyslogFraming::Found SyslogFraming::next(std::string_view& bytes, std::string_view& message) {
  if (!why_.empty()) return Found::no_syslog;
  if (is_given_) {
    held_.clear();
    is_given_ = false;
  }
  for (;;) {
    if (state_ == State::between) {
      const auto begin =
          std::ranges::find_if_not(bytes, [](char c) { return ends_line(c) || c == '\r'; });
      bytes.remove_prefix(static_cast<std::size_t>(begin - bytes.begin()));
      if (bytes.empty()) return Found::nothing;
      if (is_first_ && bytes.front() == kTlsHandshake) {
        why_ = "the client speaks TLS";
        return Found::no_syslog;
      }
      state_ = State::head;
      seen_ = 0;
    }
    if (state_ == State::head && !read_head(bytes)) return Found::nothing;
    const bool complete =
        state_ == State::counted ? take_counted(bytes, message) : take_line(bytes, message);
    if (seen_ > kAbsurdMessage || left_ > kAbsurdMessage) why_ = "a message has no end";
    if (!why_.empty()) return Found::no_syslog;
    if (!complete) return Found::nothing;
    const bool is_line = state_ == State::line;
    state_ = State::between;
    if (std::exchange(is_first_, false) && is_line && asks_for_http(message)) {
      why_ = "the client speaks HTTP";
      return Found::no_syslog;
    }
    return Found::message;
  }
}

// Decides how the message is framed; false: more bytes are needed for that. A count is a number, a
// blank, and then the message, which begins with '<' and a digit: "900 <unfinished>" is a line. In
// a line, what looked like a count is its beginning.
bool SyslogFraming::read_head(std::string_view& bytes) {
  while (!bytes.empty()) {
    const char c = bytes.front();
    const bool has_blank = held_.ends_with(' ');
    const bool has_bracket = held_.ends_with('<');
    const bool may_go_on =
        !has_bracket && (has_blank     ? c == '<'
                         : is_digit(c) ? held_.size() < kMostDigits && (c != '0' || !held_.empty())
                                       : c == ' ' && !held_.empty());
    if (!may_go_on) {
      state_ = has_bracket && is_digit(c) ? State::counted : State::line;
      if (state_ == State::counted) {
        std::from_chars(held_.data(), held_.data() + held_.size(), left_);
        held_ = "<";
        --left_;
      }
      seen_ = held_.size();
      return true;
    }
    held_ += c;
    bytes.remove_prefix(1);
  }
  return false;
}

bool SyslogFraming::take_counted(std::string_view& bytes, std::string_view& message) {
  const std::string_view piece = bytes.substr(0, left_);
  if (left_ > kAbsurdMessage) return false;
  bytes.remove_prefix(piece.size());
  left_ -= piece.size();
  return take_piece(piece, left_ == 0, message);
}

bool SyslogFraming::take_line(std::string_view& bytes, std::string_view& message) {
  const auto end = std::ranges::find_if(bytes, ends_line);
  const auto length = static_cast<std::size_t>(end - bytes.begin());
  const bool is_last = length < bytes.size();
  const std::string_view piece = bytes.substr(0, length);
  bytes.remove_prefix(is_last ? length + 1 : length);
  return take_piece(piece, is_last, message);
}

// A message that came in one piece is not copied.
bool SyslogFraming::take_piece(std::string_view piece, bool is_last, std::string_view& message) {
  seen_ += piece.size();
  was_cut_ = seen_ > kLongestMessage;
  if (is_last && held_.empty()) {
    message = piece.substr(0, kLongestMessage);
    return true;
  }
  held_ += piece.substr(0, kLongestMessage - std::min(kLongestMessage, held_.size()));
  if (!is_last) return false;
  message = held_;
  is_given_ = true;
  return true;
}

bool SyslogFraming::finish(std::string_view& message) {
  if (!why_.empty() || is_given_ || held_.empty()) return false;
  was_cut_ = state_ == State::counted || seen_ > kLongestMessage;
  message = held_;
  is_given_ = true;
  return true;
}

}  // namespace faultline
