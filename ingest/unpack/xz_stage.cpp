#include "ingest/unpack/xz_stage.h"

#include <fmt/format.h>

#include <new>
#include <utility>

#include "ingest/unpack.h"

namespace faultline::unpacking {
namespace {

constexpr std::size_t kBuffer = std::size_t{128} << 10;

}  // namespace

XzStage::XzStage(Limits& limits, StagePtr next)
    : limits_(limits),
      next_(std::move(next)),
      buffer_(std::make_unique_for_overwrite<char[]>(kBuffer)) {
  if (lzma_stream_decoder(&stream_, Unpacker::kMaxXzMemory, LZMA_CONCATENATED) != LZMA_OK)
    throw std::bad_alloc();
}

XzStage::~XzStage() { lzma_end(&stream_); }

Result<void> XzStage::feed(std::string_view bytes) {
  stream_.next_in = reinterpret_cast<const std::uint8_t*>(bytes.data());
  stream_.avail_in = bytes.size();
  Result<void> decoded = decode(LZMA_RUN);
  failed_ = !decoded;
  return decoded;
}

Result<void> XzStage::decode(lzma_action action) {
  lzma_ret status = LZMA_OK;
  do {
    stream_.next_out = reinterpret_cast<std::uint8_t*>(buffer_.get());
    stream_.avail_out = kBuffer;
    status = lzma_code(&stream_, action);
    const std::size_t inflated = kBuffer - stream_.avail_out;
    if (inflated == 0) continue;
    if (auto within = limits_.inflated(inflated); !within) return within;
    if (auto passed_on = next_->feed({buffer_.get(), inflated}); !passed_on) return passed_on;
  } while (status == LZMA_OK && (stream_.avail_in > 0 || stream_.avail_out == 0));
  complete_ = status == LZMA_STREAM_END;
  // LZMA_BUF_ERROR: it asks for more input.
  if (complete_ || status == LZMA_OK || status == LZMA_BUF_ERROR) return {};
  return refusal(status);
}

Result<void> XzStage::finish() {
  if (failed_) return next_->finish();
  stream_.next_in = nullptr;
  stream_.avail_in = 0;
  Result<void> decoded = decode(LZMA_FINISH);
  Result<void> finished = next_->finish();
  if (!decoded) return decoded;
  if (complete_) return finished;
  return Error{Error::Kind::invalid_input,
               fmt::format("the xz data breaks off after {} bytes; what came before was read",
                           stream_.total_in)};
}

Error XzStage::refusal(lzma_ret status) const {
  if (status == LZMA_MEM_ERROR) throw std::bad_alloc();
  if (status == LZMA_MEMLIMIT_ERROR)
    return {Error::Kind::too_large,
            fmt::format("the xz data needs more than {} MiB of memory to be read; compress it "
                        "again with a smaller dictionary (xz -9 is small enough)",
                        Unpacker::kMaxXzMemory >> 20)};
  return {Error::Kind::invalid_input,
          fmt::format("the xz data is damaged near byte {}; what came before was read",
                      stream_.total_in)};
}

}  // namespace faultline::unpacking
