#include "ingest/block_bytes.h"

#include <xxhash.h>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ingest/block_check.h"
#include "model/batch_bytes.h"
#include "model/bytes.h"
#include "model/json.h"
#include "model/time_bytes.h"

namespace faultline {
namespace {

// Of everything below, and of what stands in batch_bytes. A new form needs a new number.
constexpr std::uint8_t kBlockForm = 1;

void write_events(const std::vector<Event>& events, ByteWriter& out) {
  out.number(events.size());
  for (const Event& event : events) {
    out.number(event.order);
    out.number(event.speaker);
    out.signed_number(static_cast<std::int64_t>(event.line));
    out.signed_number(static_cast<std::int64_t>(event.offset));
    write_time(event.time, out);
    out.text(kind_of(event.fact));
    out.text(fact_to_json(event.fact));
    out.text(event.text);
  }
}

std::vector<Event> read_events(ByteReader& in) {
  constexpr std::size_t kLeastBytes = 9;
  // A reader cuts a block at 8,192 events; a line may tell of some more.
  constexpr std::size_t kMostEvents = std::size_t{1} << 16;
  std::vector<Event> events;
  std::size_t left = in.count(kLeastBytes);
  if (left > kMostEvents) throw BadBytes("has more events than a reader puts into one");
  for (; left > 0; --left) {
    Event event;
    event.order = in.small<std::uint32_t>();
    event.speaker = in.small<std::uint32_t>();
    event.line = static_cast<std::uint64_t>(in.signed_number());
    event.offset = static_cast<std::uint64_t>(in.signed_number());
    event.time = read_time(in);
    const std::string_view kind = in.text();
    Result<Fact> fact = fact_from_json(kind, in.text());
    if (!fact) throw BadBytes(fact.error().message);
    event.fact = std::move(*fact);
    event.text = in.text();
    events.push_back(std::move(event));
  }
  return events;
}

// 64 bits as they are: digests do not become smaller.
void write_digest(std::uint64_t digest, ByteWriter& out) {
  for (int shift = 0; shift < 64; shift += 8) out.byte(static_cast<std::uint8_t>(digest >> shift));
}

std::uint64_t read_digest(ByteReader& in) {
  std::uint64_t digest = 0;
  for (int shift = 0; shift < 64; shift += 8)
    digest |= static_cast<std::uint64_t>(in.byte()) << shift;
  return digest;
}

Error bad_block(std::string_view how) {
  return {Error::Kind::invalid_input, fmt::format("the block {}", how)};
}

}  // namespace

std::uint64_t mark_of_state(std::uint64_t lines, std::string_view carry) {
  return XXH3_64bits_withSeed(carry.data(), carry.size(), lines);
}

// Wraps around: an event may stand on a line that begins before the block.
void move_block(ReadBlock& block, std::uint64_t offset, std::uint64_t lines) {
  Batch& batch = block.batch;
  batch.from_offset += offset;
  batch.to_offset += offset;
  batch.first_line += lines;
  for (Event& event : batch.events) {
    event.line += lines;
    event.offset += offset;
  }
  block.after.offset += offset;
  block.after.lines += lines;
}

void leave_out_before(ReadBlock& block, std::uint64_t offset) {
  Batch& batch = block.batch;
  std::erase_if(batch.events, [&](const Event& event) { return event.offset < offset; });
  for (CallRun& run : batch.runs)
    std::erase_if(run.calls, [&](const Call& call) { return offset_of(batch, call) < offset; });
  std::erase_if(batch.runs, [](const CallRun& run) { return run.calls.empty(); });
  const auto moved = static_cast<std::uint32_t>(offset - batch.from_offset);
  for (CallRun& run : batch.runs)
    for (Call& call : run.calls) call.offset -= moved;
  batch.from_offset = offset;
  block.keeps_lines = false;
  block.kept_lines.clear();
}

std::string write_block(ReadBlock block, const Cursor& before) {
  move_block(block, -before.offset, -before.lines);
  ByteWriter out;
  out.byte(kBlockForm);
  write_digest(mark_of_state(before.lines, before.carry), out);
  write_digest(block.digests.all, out);
  write_digest(block.digests.head, out);
  out.text(write_batch(block.batch));
  write_events(block.batch.events, out);
  out.text(block.after.carry);
  out.byte(block.keeps_lines ? 1 : 0);
  out.text(block.kept_lines);
  return out.take();
}

Result<SentBlock> read_block(std::string_view bytes) try {
  ByteReader in(bytes);
  if (in.byte() != kBlockForm) return bad_block("has a form that this program does not know");
  SentBlock sent{.begins_at = read_digest(in), .block = {}};
  ReadBlock& block = sent.block;
  block.digests.all = read_digest(in);
  block.digests.head = read_digest(in);
  Result<Batch> batch = read_batch(in.text());
  if (!batch) return batch.error();
  block.batch = std::move(*batch);
  block.batch.events = read_events(in);
  block.after = {block.batch.to_offset, block.batch.lines, std::string(in.text())};
  block.keeps_lines = in.byte() != 0;
  block.kept_lines = in.text();
  if (!in.at_end()) return bad_block("has bytes after its end");
  if (const auto good = check_block(block); !good) return bad_block(good.error().message);
  return sent;
} catch (const BadBytes& error) {
  return bad_block(error.what());
}

}  // namespace faultline
