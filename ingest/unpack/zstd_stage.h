// Inflates zstd: any number of frames, skippable ones among them.
#pragma once

#include <zstd.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "ingest/unpack/limits.h"
#include "ingest/unpack/stage.h"

namespace faultline::unpacking {

class ZstdStage : public Stage {
 public:
  ZstdStage(Limits& limits, StagePtr next);

  Result<void> feed(std::string_view bytes) override;
  Result<void> finish() override;

 private:
  struct FreeContext {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };

  Error refusal(std::size_t status) const;

  Limits& limits_;
  StagePtr next_;
  std::unique_ptr<ZSTD_DCtx, FreeContext> context_;
  std::unique_ptr<char[]> buffer_;
  bool between_frames_ = false;
  std::size_t wanted_;  // by zstd's own advice: up to the end of a block
  std::uint64_t consumed_ = 0;
};

}  // namespace faultline::unpacking
