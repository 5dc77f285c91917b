#include "service/read_commit.h"

namespace faultline {

Commit take_commit(Reader& reader, const Source& source, std::string_view carry_before) {
  Commit commit{.source = source, .batch = reader.take()};
  Cursor after = reader.cursor();
  commit.position = {after.offset, after.lines, std::move(after.carry)};
  commit.keeps_lines = reader.keeps_lines();
  if (!commit.keeps_lines) return commit;
  // Most of a long log is calls: a stretch of nothing else needs no kept lines.
  const bool tells_nothing =
      reader.has_kept_only_calls() && carry_before.empty() && commit.position.carry.empty();
  std::string kept = reader.take_kept_lines();
  if (!tells_nothing) commit.kept_lines = std::move(kept);
  return commit;
}

}  // namespace faultline
