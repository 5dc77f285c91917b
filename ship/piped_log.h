// PipedLog: what another program writes into our stdin.
#pragma once

#include <string>
#include <utility>

#include "ship/log_reader.h"

namespace faultline {

class PipedLog : public LogReader {
 public:
  PipedLog(ReaderState saved, int descriptor);

  std::optional<StreamPiece> take(std::size_t most, bool hurry) override;
  bool at_end() const override { return at_end_; }
  bool is_over() const override { return is_over_; }
  // A pipe cannot be read again.
  bool rewind(std::uint64_t) override { return false; }
  void go_on_at(std::uint64_t offset) override { next_ = offset; }
  void rename(LogTarget target) override { saved_.target = std::move(target); }
  bool pass_held(std::uint64_t, const std::optional<HeldProof>&) override { return false; }
  void acknowledge(std::uint64_t offset) override { saved_.acknowledged = offset; }
  ReaderState saved() const override { return saved_; }
  const LogTarget& target() const override { return saved_.target; }

  // Reads what is there and throws it away: a program that writes to us must never wait for a
  // server. Returns how many bytes.
  std::size_t throw_away();

 private:
  std::string read_some(std::size_t most);

  ReaderState saved_;
  int descriptor_;
  std::uint64_t next_ = 0;
  bool at_end_ = false;
  bool is_over_ = false;
};

}  // namespace faultline
