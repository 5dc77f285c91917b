// A batch as it is stored: model/batch_bytes.h, compressed.
#pragma once

#include <string>
#include <string_view>

#include "model/batch.h"
#include "model/result.h"

namespace faultline {

// The most bytes of a batch before compression. A larger one is refused, so that a damaged size
// cannot ask for all the memory.
constexpr std::size_t kMaxContentBytes = std::size_t{64} << 20;

// Compressed (zstd, with its checksum). Throws StoreError if the batch is too large.
std::string encode_batch(const Batch& batch);

// Returns the batch without its events. Takes any bytes; refuses what encode_batch did not write.
Result<Batch> decode_batch(std::string_view bytes);

}  // namespace faultline
