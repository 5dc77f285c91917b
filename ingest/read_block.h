// A block: what a reader made of a stretch of a source. It is stored at once or not at all. The
// server reads blocks, or an agent does and sends them.
#pragma once

#include <string>

#include "ingest/block_digest.h"
#include "ingest/reader.h"
#include "model/batch.h"

namespace faultline {

struct ReadBlock {
  Batch batch;
  Cursor after;          // where reading goes on
  BlockDigests digests;  // of the bytes of the block
  bool keeps_lines = false;
  std::string kept_lines;  // empty: only calls were read
  bool operator==(const ReadBlock&) const = default;
};

// What the reader has read since the last call. The caller fills in the digests. `begins_bare`: the
// cursor at which the block begins carries nothing.
ReadBlock take_block(Reader& reader, bool begins_bare);

// Whether the block says anything.
bool is_worth_keeping(const ReadBlock& block);

}  // namespace faultline
