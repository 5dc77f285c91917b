#include "ingest/unpack/gzip_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

namespace faultline::unpacking {
namespace {

constexpr std::size_t kBuffer = std::size_t{128} << 10;
constexpr int kOnlyGzip = 16;  // zlib's way to say it, added to the window's size

}  // namespace

GzipStage::GzipStage(Limits& limits, StagePtr next)
    : limits_(limits),
      next_(std::move(next)),
      buffer_(std::make_unique_for_overwrite<char[]>(kBuffer)) {
  if (inflateInit2(&stream_, MAX_WBITS + kOnlyGzip) != Z_OK) throw std::bad_alloc();
}

GzipStage::~GzipStage() { inflateEnd(&stream_); }

Result<void> GzipStage::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (state_ == State::after_member && bytes.front() != '\0') {
      inflateReset(&stream_);
      state_ = State::in_member;
    }
    Result<void> done = state_ == State::in_member ? inflate_member(bytes) : skip_padding(bytes);
    if (!done) return done;
  }
  return {};
}

Result<void> GzipStage::inflate_member(std::string_view& bytes) {
  const std::size_t given = std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max());
  // zlib does not write to its input; its declaration says so only with ZLIB_CONST.
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream_.avail_in = static_cast<uInt>(given);
  int status = Z_OK;
  Result<void> passed_on;
  do {
    stream_.next_out = reinterpret_cast<Bytef*>(buffer_.get());
    stream_.avail_out = static_cast<uInt>(kBuffer);
    status = inflate(&stream_, Z_NO_FLUSH);
    const std::size_t inflated = kBuffer - stream_.avail_out;
    if (inflated == 0) continue;
    passed_on = limits_.inflated(inflated);
    if (passed_on) passed_on = next_->feed({buffer_.get(), inflated});
  } while (passed_on && status == Z_OK && (stream_.avail_in > 0 || stream_.avail_out == 0));

  const std::size_t used = given - stream_.avail_in;
  bytes.remove_prefix(used);
  consumed_ += used;
  if (!passed_on) return passed_on;
  if (status == Z_STREAM_END) state_ = State::after_member;
  if (status == Z_MEM_ERROR) throw std::bad_alloc();
  // Z_BUF_ERROR: it asks for more input.
  if (status == Z_OK || status == Z_BUF_ERROR || status == Z_STREAM_END) return {};
  return Error{Error::Kind::invalid_input,
               fmt::format("the gzip data is damaged at byte {} ({}); what came before was read",
                           consumed_, stream_.msg != nullptr ? stream_.msg : "preset dictionary")};
}

Result<void> GzipStage::skip_padding(std::string_view& bytes) {
  state_ = State::in_padding;
  const std::size_t zeros = std::min(bytes.find_first_not_of('\0'), bytes.size());
  bytes.remove_prefix(zeros);
  consumed_ += zeros;
  if (bytes.empty()) return {};
  return Error{
      Error::Kind::invalid_input,
      fmt::format("the gzip data ends before byte {}, and what follows is not gzip; what came "
                  "before was read",
                  consumed_)};
}

Result<void> GzipStage::finish() {
  Result<void> finished = next_->finish();
  if (state_ != State::in_member) return finished;
  return Error{
      Error::Kind::invalid_input,
      fmt::format("the gzip data breaks off after {} bytes; what came before was read", consumed_)};
}

}  // namespace faultline::unpacking
