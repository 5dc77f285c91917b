// LogReader: something that gives the bytes of one source in their order: the files of a log, the
// kernel's ring buffer, stdin.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ship/held_proof.h"
#include "ship/log_target.h"
#include "ship/part_mark.h"

namespace faultline {

// Bytes of a log, and where they lie in its stream.
struct StreamPiece {
  std::uint64_t from = 0;
  std::string bytes;
  std::uint64_t to() const { return from + bytes.size(); }
};

// What is kept of a reader on the disk, so that another one goes on where it stood.
struct ReaderState {
  std::string path;
  LogTarget target;
  std::uint64_t acknowledged = 0;  // up to here the server has the stream
  double looked_at = 0;            // when the files were looked at last, in seconds of the clock
  PartMarks parts;                 // oldest first
};

class LogReader {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~LogReader() = default;

  // Up to about `most` further bytes, if it is worth to take them now. `hurry`: even a few.
  virtual std::optional<StreamPiece> take(std::size_t most, bool hurry) = 0;
  // Nothing is left for now.
  virtual bool at_end() const = 0;
  // Nothing will ever follow.
  virtual bool is_over() const { return false; }

  // The server has only the first `offset` bytes: goes back there. False: what follows them cannot
  // be read any more, and nothing has changed.
  virtual bool rewind(std::uint64_t offset) = 0;
  // What comes next lies elsewhere in the stream, or in another one.
  virtual void go_on_at(std::uint64_t offset) = 0;
  virtual void rename(LogTarget target) = 0;
  // A stream of which nothing is known here begins, but the server has bytes up to `offset` of it:
  // passes them. False: they are not the beginning of what is here.
  virtual bool pass_held(std::uint64_t offset, const std::optional<HeldProof>& proof) = 0;
  // What is up to here is not needed again.
  virtual void acknowledge(std::uint64_t offset) = 0;

  // Where to go on has changed so much since the last call that it should be saved at once.
  virtual bool must_be_saved() { return false; }
  // What people should know of, since the last call.
  std::vector<std::string> take_remarks() { return std::exchange(remarks_, {}); }
  virtual ReaderState saved() const = 0;
  virtual const LogTarget& target() const = 0;
  // For the kernel's messages: when the host started, as the server wants it; else empty.
  virtual std::string boot_time() const { return {}; }

 protected:
  void remark(std::string text) { remarks_.push_back(std::move(text)); }

 private:
  std::vector<std::string> remarks_;
};

}  // namespace faultline
