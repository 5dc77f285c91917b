// Inflates gzip: any number of members, and the zeros that tapes and block devices add behind them.
#pragma once

#include <zlib.h>

#include <memory>
#include <string_view>

#include "ingest/unpack/limits.h"
#include "ingest/unpack/stage.h"

namespace faultline::unpacking {

class GzipStage : public Stage {
 public:
  GzipStage(Limits& limits, StagePtr next);
  ~GzipStage() override;
  GzipStage(const GzipStage&) = delete;
  GzipStage& operator=(const GzipStage&) = delete;

  Result<void> feed(std::string_view bytes) override;
  Result<void> finish() override;

 private:
  enum class State { in_member, after_member, in_padding };

  Result<void> inflate_member(std::string_view& bytes);
  Result<void> skip_padding(std::string_view& bytes);

  Limits& limits_;
  StagePtr next_;
  z_stream stream_{};
  std::unique_ptr<char[]> buffer_;
  State state_ = State::in_member;
  std::uint64_t consumed_ = 0;
};

}  // namespace faultline::unpacking
