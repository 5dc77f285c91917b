#include "ingest/block_reader.h"

#include <algorithm>
#include <utility>

namespace faultline {
namespace {

constexpr std::size_t kBlockGrowth = 4;
// A block ends early if its events weigh more than this; checked after every kFedAtOnce bytes.
constexpr std::uint64_t kMostWeightOfABlock = 8192;
constexpr std::size_t kFedAtOnce = std::size_t{64} << 10;

}  // namespace

BlockReader::BlockReader(const Cursor& cursor, Timestamp received,
                         std::shared_ptr<const Noteworthy> noteworthy, std::size_t first_block)
    : reader_(cursor, received, std::move(noteworthy)),
      begins_bare_(cursor.carry.empty()),
      target_(first_block) {}

// A block ends with a line, and is cut when it has reached its target size. If its first line is
// longer than that, it is cut at the end of this line. See kMaxBlockBytes.
std::size_t BlockReader::feed(std::string_view bytes) {
  std::size_t length = std::min(bytes.size(), kFedAtOnce);
  if (digest_.bytes() < target_)
    length = std::min(length, static_cast<std::size_t>(target_ - digest_.bytes()));
  else
    length = std::min(length, bytes.find('\n') + 1);  // no newline: npos + 1 is 0, fixed below
  if (length == 0) length = std::min(bytes.size(), kFedAtOnce);
  const std::string_view piece = bytes.substr(0, length);
  digest_.add(piece);
  reader_.feed(piece);
  return length;
}

bool BlockReader::is_full() const {
  const bool has_reached =
      digest_.bytes() >= target_ || reader_.pending_weight() >= kMostWeightOfABlock;
  return has_reached && pending();
}

std::optional<ReadBlock> BlockReader::take(bool everything, bool even_empty) {
  // Digests cover exactly what the batch holds. Inside a dump or a trace the reader holds bytes
  // back until the end.
  const bool fits = reader_.pending_bytes() == digest_.whole_line_bytes();
  if (!everything && !fits && digest_.bytes() < kMostHeldBytes) return std::nullopt;
  ReadBlock block = take_block(reader_, begins_bare_);
  if (!even_empty && !is_worth_keeping(block)) return std::nullopt;
  begins_bare_ = block.after.carry.empty();
  block.digests = digest_.cut(everything);
  target_ = std::min(target_ * kBlockGrowth, kMaxBlockBytes);
  return block;
}

}  // namespace faultline
