#include "ingest/unpack/zstd_stage.h"

#include <fmt/format.h>
#include <zstd_errors.h>

#include <algorithm>
#include <new>
#include <utility>

#include "ingest/unpack.h"

namespace faultline::unpacking {
namespace {

constexpr std::size_t kBuffer = std::size_t{128} << 10;  // a block, the most zstd hands out at once
constexpr std::size_t kFrameStart = 5;  // enough to know how long a frame's header is

}  // namespace

ZstdStage::ZstdStage(Limits& limits, StagePtr next)
    : limits_(limits),
      next_(std::move(next)),
      context_(ZSTD_createDCtx()),
      buffer_(std::make_unique_for_overwrite<char[]>(kBuffer)),
      wanted_(kFrameStart) {
  if (!context_) throw std::bad_alloc();
  ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, Unpacker::kMaxZstdWindowLog);
}

Result<void> ZstdStage::feed(std::string_view bytes) {
  ZSTD_inBuffer in{bytes.data(), 0, 0};
  bool flushed = true;
  // A full output buffer means that zstd may be holding more.
  while (in.pos < bytes.size() || !flushed) {
    const std::size_t before = in.pos;
    // Feed block by block: if a block is damaged, zstd loses what it made of earlier blocks in the
    // same call.
    in.size = std::min(bytes.size(), in.pos + wanted_);
    ZSTD_outBuffer out{buffer_.get(), kBuffer, 0};
    const std::size_t status = ZSTD_decompressStream(context_.get(), &out, &in);
    consumed_ += in.pos - before;
    if (ZSTD_isError(status)) return refusal(status);
    between_frames_ = status == 0;
    wanted_ = between_frames_ ? kFrameStart : status;
    flushed = out.pos < out.size || between_frames_;
    if (out.pos == 0) continue;
    if (auto within = limits_.inflated(out.pos); !within) return within;
    if (auto passed_on = next_->feed({buffer_.get(), out.pos}); !passed_on) return passed_on;
  }
  return {};
}

Result<void> ZstdStage::finish() {
  Result<void> finished = next_->finish();
  if (between_frames_) return finished;
  return Error{
      Error::Kind::invalid_input,
      fmt::format("the zstd data breaks off after {} bytes; what came before was read", consumed_)};
}

Error ZstdStage::refusal(std::size_t status) const {
  switch (ZSTD_getErrorCode(status)) {
    case ZSTD_error_memory_allocation:
      throw std::bad_alloc();
    case ZSTD_error_frameParameter_windowTooLarge:
      return Error{
          Error::Kind::too_large,
          fmt::format("the zstd data needs a window of more than {} MiB to be read; compress "
                      "it again without --long and with a level below 20",
                      (std::uint64_t{1} << Unpacker::kMaxZstdWindowLog) >> 20)};
    default:
      return Error{
          Error::Kind::invalid_input,
          fmt::format("the zstd data is damaged near byte {} ({}); what came before was read",
                      consumed_, ZSTD_getErrorName(status))};
  }
}

}  // namespace faultline::unpacking
