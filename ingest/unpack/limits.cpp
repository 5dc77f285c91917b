#include "ingest/unpack/limits.h"

#include <fmt/format.h>

#include "ingest/unpack.h"

namespace faultline::unpacking {

Result<void> Limits::inflated(std::uint64_t bytes) {
  inflated_ += bytes;
  if (!visitor_.wants_more())
    return Error{Error::Kind::too_large, "the rest of the compressed data was not read"};
  if (inflated_ <= Unpacker::kFreeGrowth || inflated_ / Unpacker::kMaxGrowth < received_) return {};
  return Error{Error::Kind::too_large,
               fmt::format("the compressed data grows more than {} times its size, as no log does; "
                           "the rest of it was not read",
                           Unpacker::kMaxGrowth)};
}

Result<void> Limits::file_opened() {
  if (++files_ <= Unpacker::kMaxFiles) return {};
  return Error{Error::Kind::too_large,
               fmt::format("more than {} files in one archive; split it", Unpacker::kMaxFiles)};
}

}  // namespace faultline::unpacking
