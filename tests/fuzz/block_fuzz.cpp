// Blocks that agents send. Whatever is accepted comes back the same, and can be folded and judged
// without harm. What a reader made of any text is accepted.
#include <algorithm>
#include <memory>
#include <string>

#include "ingest/block_bytes.h"
#include "ingest/block_check.h"
#include "ingest/block_frames.h"
#include "ingest/edge_reader.h"
#include "oracle.h"
#include "rules/answer/diagnosis.h"
#include "rules/state/job_state.h"

namespace {

using namespace faultline;

constexpr Timestamp kNow = Timestamp(std::chrono::hours(24 * 21'000));

void fold(ReadBlock block, std::uint64_t offset, std::uint64_t lines) {
  move_block(block, offset, lines);
  if (!is_within_its_source(block)) return;
  JobState state("llama");
  state.apply({.job = "llama", .name = "a.log", .host = "gpu-7"}, block.batch, kNow);
  Reader(block.after, kNow).close();  // the server reads on with what it carries
  leave_out_before(block, offset + block.batch.to_offset / 2);
  state.apply({.job = "llama", .name = "b.log", .host = "gpu-8"}, block.batch, kNow);
  static const Catalog catalog = load_catalog();
  (void)diagnose(state, catalog, {.now = kNow});
}

void take(std::string_view bytes) {
  const Result<SentBlock> sent = read_block(bytes);
  if (!sent) return;
  const Cursor start;
  const Result<SentBlock> again = read_block(write_block(sent->block, start));
  require(again.has_value(), "what was accepted is accepted again");
  require(again->block == sent->block, "and is the same");
  fold(sent->block, 0, 0);
  fold(sent->block, std::uint64_t{1} << 40, std::uint64_t{1} << 30);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  take(bytes);
  BlockFrames cutter;
  (void)cutter.feed(bytes, [](std::string_view block) -> Result<void> {
    take(block);
    return {};
  });
  // The block of a text in which some bytes are then changed: three bytes say which, and how.
  Input input(data, size);
  struct Change {
    std::size_t at;
    std::uint8_t to;
  };
  std::vector<Change> changes(input.byte() % 8);
  for (Change& change : changes) {
    change.at = input.byte() * std::size_t{256};
    change.at += input.byte();
    change.to = input.byte();
  }
  Cursor cursor;
  const auto frames = read_at_the_edge(cursor, input.rest(), kNow, nullptr);
  if (!frames) return 0;
  BlockFrames own;
  const auto cut = own.feed(*frames, [&](std::string_view block) -> Result<void> {
    std::string changed(block);
    for (const Change& change : changes)
      changed[change.at % changed.size()] = static_cast<char>(change.to);
    take(changed);
    return {};
  });
  require(cut.has_value() && own.at_end(), "a reader's own blocks can be cut");
  return 0;
}
