#include "ingest/read_block.h"

#include <utility>

namespace faultline {

ReadBlock take_block(Reader& reader, bool begins_bare) {
  ReadBlock block{.batch = reader.take(), .after = {}, .digests = {}, .kept_lines = {}};
  block.after = reader.cursor();
  block.keeps_lines = reader.keeps_lines();
  if (!block.keeps_lines) return block;
  // Most of a long log is calls: a stretch of nothing else needs no kept lines.
  const bool tells_nothing =
      reader.has_kept_only_calls() && begins_bare && block.after.carry.empty();
  std::string kept = reader.take_kept_lines();
  if (!tells_nothing) block.kept_lines = std::move(kept);
  return block;
}

bool is_worth_keeping(const ReadBlock& block) {
  const Batch& batch = block.batch;
  return batch.to_offset > batch.from_offset || batch.lines > 0 || batch.facts() > 0 ||
         batch.end != SourceEnd::open;
}

}  // namespace faultline
