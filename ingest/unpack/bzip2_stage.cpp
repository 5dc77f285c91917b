#include "ingest/unpack/bzip2_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

namespace faultline::unpacking {
namespace {

constexpr std::size_t kBuffer = std::size_t{128} << 10;

}  // namespace

Bzip2Stage::Bzip2Stage(Limits& limits, StagePtr next)
    : limits_(limits),
      next_(std::move(next)),
      buffer_(std::make_unique_for_overwrite<char[]>(kBuffer)) {
  begin_stream();
}

Bzip2Stage::~Bzip2Stage() { BZ2_bzDecompressEnd(&stream_); }

void Bzip2Stage::begin_stream() {
  stream_ = {};
  if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) throw std::bad_alloc();
}

Result<void> Bzip2Stage::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (between_streams_) {
      BZ2_bzDecompressEnd(&stream_);
      begin_stream();
      between_streams_ = false;
      after_a_stream_ = true;
    }
    if (auto inflated = inflate_stream(bytes); !inflated) return inflated;
  }
  return {};
}

Result<void> Bzip2Stage::inflate_stream(std::string_view& bytes) {
  const std::size_t given =
      std::min<std::size_t>(bytes.size(), std::numeric_limits<unsigned>::max());
  stream_.next_in = const_cast<char*>(bytes.data());  // it does not write there
  stream_.avail_in = static_cast<unsigned>(given);
  int status = BZ_OK;
  Result<void> passed_on;
  do {
    stream_.next_out = buffer_.get();
    stream_.avail_out = static_cast<unsigned>(kBuffer);
    status = BZ2_bzDecompress(&stream_);
    const std::size_t inflated = kBuffer - stream_.avail_out;
    if (inflated == 0) continue;
    passed_on = limits_.inflated(inflated);
    if (passed_on) passed_on = next_->feed({buffer_.get(), inflated});
  } while (passed_on && status == BZ_OK && (stream_.avail_in > 0 || stream_.avail_out == 0));

  const std::size_t used = given - stream_.avail_in;
  bytes.remove_prefix(used);
  consumed_ += used;
  if (!passed_on) return passed_on;
  between_streams_ = status == BZ_STREAM_END;
  if (status == BZ_OK || between_streams_) return {};
  return refusal(status);
}

Error Bzip2Stage::refusal(int status) const {
  if (status == BZ_MEM_ERROR) throw std::bad_alloc();
  if (status == BZ_DATA_ERROR_MAGIC && after_a_stream_)
    return {Error::Kind::invalid_input,
            fmt::format("the bzip2 data ends before byte {}, and what follows is not bzip2; what "
                        "came before was read",
                        consumed_)};
  return {
      Error::Kind::invalid_input,
      fmt::format("the bzip2 data is damaged near byte {}; what came before was read", consumed_)};
}

Result<void> Bzip2Stage::finish() {
  Result<void> finished = next_->finish();
  if (between_streams_) return finished;
  return Error{Error::Kind::invalid_input,
               fmt::format("the bzip2 data breaks off after {} bytes; what came before was read",
                           consumed_)};
}

}  // namespace faultline::unpacking
