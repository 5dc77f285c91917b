// SyslogFraming: finds the messages in the bytes of a TCP connection. Each is framed by a newline,
// or by the number of its bytes in front (RFC 6587): which of the two it is shows at its beginning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace faultline {

class SyslogFraming {
 public:
  // What is longer is cut: its beginning is a message, and the rest is passed over.
  static constexpr std::size_t kLongestMessage = std::size_t{64} << 10;
  // Nobody writes a message like this. What claims to be one, or goes on and on, is no syslog.
  static constexpr std::size_t kAbsurdMessage = std::size_t{16} << 20;

  enum class Found {
    message,
    nothing,    // all bytes are taken, and the next message is not complete
    no_syslog,  // why(): nothing that follows can be read
  };

  // Takes the next message off the front of `bytes`. It is valid until the next call, and no longer
  // than `bytes`.
  Found next(std::string_view& bytes, std::string_view& message);

  // No more bytes come. True: there is a last message, without its end.
  bool finish(std::string_view& message);

  // Whether the end of the last message is missing.
  bool was_cut() const { return was_cut_; }
  std::string_view why() const { return why_; }

 private:
  enum class State { between, head, counted, line };

  bool read_head(std::string_view& bytes);
  bool take_counted(std::string_view& bytes, std::string_view& message);
  bool take_line(std::string_view& bytes, std::string_view& message);
  bool take_piece(std::string_view piece, bool is_last, std::string_view& message);

  State state_ = State::between;
  std::string held_;       // the beginning of a message that is not complete
  std::size_t seen_ = 0;   // bytes of that message
  std::size_t left_ = 0;   // bytes that its count still announces
  bool is_first_ = true;   // message of the connection
  bool is_given_ = false;  // held_ was given as a message
  bool was_cut_ = false;
  std::string_view why_;
};

}  // namespace faultline
