// A batch as bytes: self-contained, small, and safe to read back from a damaged file. Its events
// are not among them: the store keeps those as rows.
#pragma once

#include <string>
#include <string_view>

#include "model/batch.h"
#include "model/result.h"

namespace faultline {

// Uncompressed. The encoding of more is refused, so that a damaged size cannot ask for all the
// memory.
constexpr std::size_t kMaxContentBytes = std::size_t{64} << 20;

// Compressed (zstd, with its checksum). Throws StoreError if the batch is too large.
std::string encode_batch(const Batch& batch);

// The batch without its events. Any bytes may come: what encode_batch did not write is refused.
Result<Batch> decode_batch(std::string_view bytes);

// The same, before compression. For tests that must get past the checksum.
std::string write_batch(const Batch& batch);
Result<Batch> read_batch(std::string_view bytes);

}  // namespace faultline
