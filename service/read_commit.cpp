#include "service/read_commit.h"

#include <utility>

namespace faultline {

Commit commit_of(ReadBlock block, const Source& source) {
  Commit commit{.source = source, .batch = std::move(block.batch)};
  Cursor& after = block.after;
  commit.position = {after.offset, after.lines, std::move(after.carry), {}};
  commit.fingerprint = {.from_offset = commit.batch.from_offset,
                        .to_offset = commit.batch.to_offset,
                        .digest = block.digests.all,
                        .head_digest = block.digests.head};
  commit.keeps_lines = block.keeps_lines;
  commit.kept_lines = std::move(block.kept_lines);
  return commit;
}

Commit take_commit(Reader& reader, const Source& source, std::string_view carry_before) {
  return commit_of(take_block(reader, carry_before.empty()), source);
}

}  // namespace faultline
