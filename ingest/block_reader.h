// BlockReader: reads a stretch of a source in blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "ingest/block_digest.h"
#include "ingest/read_block.h"
#include "ingest/reader.h"

namespace faultline {

// A block is cut before it exceeds this. If its first line is longer, that line alone is the block,
// and no reader keeps any of it (Reader::kMaxLineBytes).
inline constexpr std::size_t kMaxBlockBytes = std::size_t{1} << 20;
// Of a body that means nothing in part, such as a trace. A larger body is taken for new.
inline constexpr std::size_t kMostHeldBytes = std::size_t{64} << 20;
// A body's first blocks are short, so that two files that only begin alike are told apart early;
// then they grow until a block is worth its overhead.
inline constexpr std::size_t kFirstBlockBytes = std::size_t{4} << 10;

class BlockReader {
 public:
  // As for a Reader.
  BlockReader(const Cursor& cursor, Timestamp received,
              std::shared_ptr<const Noteworthy> noteworthy,
              std::size_t first_block = kFirstBlockBytes);

  Reader& reader() { return reader_; }
  const Reader& reader() const { return reader_; }

  // Takes the beginning of bytes that are not empty, at most up to where the block should end.
  // Returns how much.
  std::size_t feed(std::string_view bytes);
  // Time to take the block.
  bool is_full() const;
  // Whole lines wait to be taken.
  bool pending() const { return digest_.whole_line_bytes() > 0; }

  // The whole lines that were fed; everything after finish() or close() of the reader. Nothing:
  // there is nothing to tell, or the block cannot end here, because the reader holds back something
  // unfinished. even_empty: a block that says nothing is given, too.
  std::optional<ReadBlock> take(bool everything, bool even_empty = false);

 private:
  Reader reader_;
  BlockDigest digest_;
  bool begins_bare_;  // the cursor at which the block begins carries nothing
  std::size_t target_;
};

}  // namespace faultline
