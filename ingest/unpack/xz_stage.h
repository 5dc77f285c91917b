// Inflates xz: any number of streams, and the zeros that may stand between and behind them.
#pragma once

#include <lzma.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "ingest/unpack/limits.h"
#include "ingest/unpack/stage.h"

namespace faultline::unpacking {

class XzStage : public Stage {
 public:
  XzStage(Limits& limits, StagePtr next);
  ~XzStage() override;
  XzStage(const XzStage&) = delete;
  XzStage& operator=(const XzStage&) = delete;

  Result<void> feed(std::string_view bytes) override;
  Result<void> finish() override;

 private:
  Result<void> decode(lzma_action action);
  Error refusal(lzma_ret status) const;

  Limits& limits_;
  StagePtr next_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  std::unique_ptr<char[]> buffer_;
  bool failed_ = false;
  bool complete_ = false;
};

}  // namespace faultline::unpacking
