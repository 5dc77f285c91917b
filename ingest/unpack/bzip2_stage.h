// Inflates bzip2: any number of streams, as pbzip2 and `cat` write them.
#pragma once

#include <bzlib.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "ingest/unpack/limits.h"
#include "ingest/unpack/stage.h"

namespace faultline::unpacking {

class Bzip2Stage : public Stage {
 public:
  Bzip2Stage(Limits& limits, StagePtr next);
  ~Bzip2Stage() override;
  Bzip2Stage(const Bzip2Stage&) = delete;
  Bzip2Stage& operator=(const Bzip2Stage&) = delete;

  Result<void> feed(std::string_view bytes) override;
  Result<void> finish() override;

 private:
  void begin_stream();
  Result<void> inflate_stream(std::string_view& bytes);
  Error refusal(int status) const;

  Limits& limits_;
  StagePtr next_;
  bz_stream stream_{};
  std::unique_ptr<char[]> buffer_;
  bool between_streams_ = false;
  bool after_a_stream_ = false;
  std::uint64_t consumed_ = 0;
};

}  // namespace faultline::unpacking
