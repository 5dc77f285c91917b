#include "ingest/edge_reader.h"

#include <utility>

#include "ingest/block_bytes.h"
#include "ingest/block_check.h"
#include "ingest/block_frames.h"
#include "ingest/block_reader.h"
#include "ingest/unpack/format.h"

namespace faultline {
namespace {

// Each block has all of the line that is not complete. The lines of a progress bar that writes no
// newline are sent once only if the server reads them.
constexpr std::size_t kMostCarried = std::size_t{16} << 10;

// The server unpacks what begins like this.
bool may_be_packed(std::string_view beginning) {
  return unpacking::format_of(beginning.substr(0, unpacking::kFormatBytes), true) !=
         unpacking::Format::plain;
}

// The server must take it as it stands. False: it would not.
bool append(std::string& frames, ReadBlock block, const Cursor& before) {
  const std::string bytes = write_block(std::move(block), before);
  if (bytes.size() > kMostBytesOnTheWire || !read_block(bytes)) return false;
  frames += framed(bytes);
  return true;
}

}  // namespace

std::optional<std::string> read_at_the_edge(Cursor& cursor, std::string_view bytes,
                                            Timestamp received,
                                            std::shared_ptr<const Noteworthy> noteworthy) {
  if (cursor.offset == 0 && may_be_packed(bytes)) return std::nullopt;
  // Only the first blocks of a source are compared with those of others.
  BlockReader blocks(cursor, received, std::move(noteworthy),
                     cursor.offset == 0 ? kFirstBlockBytes : kMaxBlockBytes);
  blocks.reader().keep_lines();
  Cursor at = cursor;
  std::string frames;
  const auto take = [&](bool everything) {
    std::optional<ReadBlock> block = blocks.take(everything);
    if (!block) return true;
    Cursor after = block->after;
    const bool is_good = append(frames, std::move(*block), at);
    at = std::move(after);
    return is_good;
  };
  while (!bytes.empty()) {
    bytes.remove_prefix(blocks.feed(bytes));
    if (!blocks.reader().reads_lines()) return std::nullopt;
    if (blocks.is_full() && !take(false)) return std::nullopt;
  }
  blocks.reader().finish();
  if (!take(true) || at.carry.size() > kMostCarried) return std::nullopt;
  cursor = std::move(at);
  return frames;
}

}  // namespace faultline
