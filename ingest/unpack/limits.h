// The limits that all stages of one Unpacker keep together, so that nesting does not multiply them.
#pragma once

#include <cstdint>

#include "ingest/unpack.h"
#include "model/result.h"

namespace faultline::unpacking {

class Limits {
 public:
  explicit Limits(FileVisitor& visitor) : visitor_(visitor) {}

  void received(std::uint64_t bytes) { received_ += bytes; }

  // An error once everything inflated so far is out of proportion to what was received, or the
  // visitor wants no more.
  Result<void> inflated(std::uint64_t bytes);

  Result<void> file_opened();

 private:
  FileVisitor& visitor_;
  std::uint64_t received_ = 0;
  std::uint64_t inflated_ = 0;
  std::uint64_t files_ = 0;
};

}  // namespace faultline::unpacking
