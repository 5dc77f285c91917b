#include "ship/piped_log.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace faultline {

PipedLog::PipedLog(ReaderState saved, int descriptor)
    : saved_(std::move(saved)), descriptor_(descriptor) {}

// All that is there, without waiting for more. Others may use the descriptor, so it is not made
// non-blocking.
std::string PipedLog::read_some(std::size_t most) {
  constexpr std::size_t kAtOnce = std::size_t{64} << 10;
  std::string bytes;
  at_end_ = false;
  while (bytes.size() < most && !is_over_) {
    pollfd wanted{descriptor_, POLLIN, 0};
    at_end_ = poll(&wanted, 1, 0) <= 0;
    if (at_end_) break;
    const std::size_t before = bytes.size();
    bytes.resize(before + kAtOnce);
    const ssize_t count = ::read(descriptor_, bytes.data() + before, kAtOnce);
    bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    is_over_ = count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN);
  }
  at_end_ = at_end_ || is_over_;
  return bytes;
}

std::optional<StreamPiece> PipedLog::take(std::size_t most, bool) {
  StreamPiece piece{next_, read_some(most)};
  if (piece.bytes.empty()) return std::nullopt;
  next_ = piece.to();
  return piece;
}

std::size_t PipedLog::throw_away() {
  constexpr std::size_t kMost = std::size_t{4} << 20;
  return read_some(kMost).size();
}

}  // namespace faultline
