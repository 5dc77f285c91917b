// A batch as bytes: self-contained, small, and safe to read back from a damaged file. Its events
// are not among them: the store keeps those as rows.
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

// The same without compression, for tests that must get past the checksum.
std::string write_batch(const Batch& batch);
Result<Batch> read_batch(std::string_view bytes);

}  // namespace faultline
