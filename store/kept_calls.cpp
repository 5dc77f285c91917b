#include "store/kept_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "model/batch_merge.h"
#include "store/batch_codec.h"
#include "store/compressed.h"
#include "store/prints.h"

namespace faultline {
namespace {

// All of one source.
constexpr int kBatchesAtOnce = 128;
// A longer row would be rewritten each time for too few new batches.
constexpr std::size_t kMostInOne = 1024;
constexpr std::size_t kMostSpeakers = 8192;
// Lines that may be read again and then give an event each: about those of one block, because the
// events of a row are held together in memory and written at once.
constexpr std::uint64_t kMostLinesOfEvents = 4096;
constexpr std::string_view kDialectOfCalls = "nccl";

struct Row {
  std::int64_t id = 0;
  std::string host;
  std::optional<std::int64_t> rank;
  Timestamp received;
  std::vector<HeldBlock> prints;
  Batch batch;  // without its events
  bool has_events = false;
  bool is_done = false;  // its calls are dropped
};

struct Reach {
  std::int64_t source = 0;
  std::int64_t through = 0;
};

struct FirstBatch {
  std::int64_t id = 0;
  Timestamp received;
};

// The first source, from this one on, with calls to drop.
std::optional<Reach> first_to_do(Database& database, std::string_view job, std::int64_t source) {
  Query row = database.query(
      "SELECT sources.id, through FROM kept_calls JOIN sources ON sources.job = kept_calls.job "
      "WHERE kept_calls.job = ? AND sources.id >= ? AND EXISTS (SELECT 1 FROM batches "
      "WHERE batches.source = sources.id AND prints IS NULL AND batches.id <= through) "
      "ORDER BY sources.id LIMIT 1",
      job, source);
  if (!row.next()) return std::nullopt;
  return Reach{row.integer(0), row.integer(1)};
}

constexpr std::string_view kColumns =
    "SELECT id, host, rank, received, from_offset, to_offset, digest, head_digest, starts_body, "
    "prints, EXISTS (SELECT 1 FROM events WHERE batch = batches.id), content FROM batches ";

// Nothing: it is damaged.
std::optional<Row> row_of(const Query& query) {
  Result<Batch> batch = decode_batch(query.text(11));
  if (!batch) return std::nullopt;
  Row row{.id = query.integer(0),
          .host = std::string(query.text(1)),
          .rank = query.maybe_integer(2),
          .received = query.time(3),
          .batch = *std::move(batch),
          .has_events = query.integer(10) != 0,
          .is_done = !query.is_null(9)};
  if (query.is_null(9) || query.text(9).empty())
    row.prints = {{.batch = row.id,
                   .print = {.from_offset = query.bits(4),
                             .to_offset = query.bits(5),
                             .digest = query.bits(6),
                             .head_digest = query.bits(7),
                             .starts_body = query.integer(8) != 0}}};
  else
    try {
      row.prints = read_prints(query.text(9));
    } catch (const BadBytes&) {
      return std::nullopt;
    }
  return row;
}

// From the first one with calls on. The calls of later ones may be dropped already, if a batch
// before them has lost its events since: it may be joined to them.
std::vector<Row> rows_to_do(Database& database, const Reach& reach) {
  std::vector<Row> rows;
  Query query = database.query(
      fmt::format("{}WHERE source = ?1 AND id <= ?2 AND id >= (SELECT min(id) FROM batches WHERE "
                  "source = ?1 AND prints IS NULL) ORDER BY id LIMIT ?3",
                  kColumns),
      reach.source, reach.through, kBatchesAtOnce);
  while (query.next()) {
    std::optional<Row> row = row_of(query);
    if (!row) break;
    rows.push_back(*std::move(row));
  }
  return rows;
}

// The row before this one, if its calls are dropped already and others may be joined to it.
std::optional<Row> row_before(Database& database, std::int64_t source, std::int64_t id) {
  Query query = database.query(
      fmt::format("{}WHERE source = ? AND id < ? ORDER BY id DESC LIMIT 1", kColumns), source, id);
  if (!query.next() || query.is_null(9)) return std::nullopt;
  return row_of(query);
}

FirstBatch first_of(Database& database, std::int64_t source) {
  Query query = database.query(
      "SELECT id, received FROM batches WHERE source = ? ORDER BY id LIMIT 1", source);
  if (!query.next()) return {};
  return {query.integer(0), query.time(1)};
}

// Leaves one run without calls, with the first and the last time: they also say when lines came.
void drop_calls(Batch& batch) {
  CallRun when;
  bool is_dated = false;
  for (const CallRun& run : batch.runs)
    for (const EventTime& time : {run.first_time, run.last_time}) {
      if (!time.wall_us) continue;
      if (!is_dated || *time.wall_us < *when.first_time.wall_us) when.first_time = time;
      if (!is_dated || *time.wall_us > *when.last_time.wall_us) when.last_time = time;
      is_dated = true;
    }
  batch.signatures.clear();
  batch.runs.clear();
  if (is_dated) batch.runs.push_back(std::move(when));
}

// Both without calls and events.
void append(Batch& batch, const Batch& next) {
  batch.to_offset = next.to_offset;
  batch.lines += next.lines;
  batch.end = next.end;
  add_counts(batch, next);
  SpeakersOf speakers(batch);
  for (const Speaker& speaker : next.speakers) speakers.index_of(speaker);
  batch.runs.insert(batch.runs.end(), next.runs.begin(), next.runs.end());
  drop_calls(batch);
}

// How many lines of the batch may have given events that were dropped: these are not of NCCL's
// dialect, whose lines are calls for the most part. No more than is of interest.
std::uint64_t lines_of_events(const Batch& batch) {
  std::uint64_t lines = 0;
  for (const auto& [dialect, count] : batch.dialects)
    if (dialect != kDialectOfCalls)
      lines = std::min(kMostLinesOfEvents + 1, lines + std::min(kMostLinesOfEvents + 1, count));
  return lines;
}

// A reanalysis brings back the events of both together, or of none if some were left out.
bool can_be_read_again_together(const Batch& batch, const Batch& next) {
  if ((batch.left_out > 0) != (next.left_out > 0)) return false;
  const std::uint64_t lines = lines_of_events(batch);
  const std::uint64_t more = lines_of_events(next);
  return lines == 0 || more == 0 || lines + more <= kMostLinesOfEvents;
}

// `first` is the first batch of their source. It must stay the earliest, even if clocks step back.
bool can_join(const FirstBatch& first, const Row& row, const Row& next) {
  return !row.has_events && !next.has_events && row.host == next.host && row.rank == next.rank &&
         first.received <= row.received && row.received <= next.received &&
         row.batch.speakers.size() + next.batch.speakers.size() <= kMostSpeakers &&
         row.batch.to_offset == next.batch.from_offset &&
         row.prints.size() + next.prints.size() <= kMostInOne &&
         can_be_read_again_together(row.batch, next.batch);
}

void write(Database& database, const Row& row) {
  const std::string content = encode_batch(row.batch);
  const std::string prints = row.prints.size() > 1 ? write_prints(row.prints) : std::string();
  const bool starts_body = std::ranges::any_of(
      row.prints, [](const HeldBlock& block) { return block.print.starts_body; });
  database.run(
      "UPDATE batches SET received = ?, from_offset = ?, to_offset = ?, starts_body = ?, "
      "content = ?, prints = ? WHERE id = ?",
      row.received, row.prints.front().print.from_offset, row.prints.back().print.to_offset,
      starts_body, Blob{content}, Blob{prints}, row.id);
}

// The result has the number of the later batch: what came after a batch still comes after it.
Row joined(Database& database, Row row, Row next) {
  database.run("DELETE FROM batches WHERE id = ?", row.id);
  row.id = next.id;
  row.received = std::max(row.received, next.received);
  row.prints.insert(row.prints.end(), next.prints.begin(), next.prints.end());
  append(row.batch, next.batch);
  return row;
}

}  // namespace

void put_kept_calls(Database& database, std::string_view job, std::int64_t through,
                    std::string_view content) {
  database.run("INSERT OR REPLACE INTO kept_calls (job, through, content) VALUES (?, ?, ?)", job,
               through, Blob{content});
}

std::optional<KeptCalls> select_kept_calls(Database& database, std::string_view job) {
  Query row = database.query("SELECT through, content FROM kept_calls WHERE job = ?", job);
  if (!row.next()) return std::nullopt;
  return KeptCalls{row.integer(0), decompressed(row.text(1), Store::kMostKeptCallsBytes)};
}

void delete_kept_calls(Database& database, std::string_view job) {
  database.run("DELETE FROM kept_calls WHERE job = ?", job);
}

// The first batch of a source is never joined to another: it shows when the source began, and so in
// which order sources came.
DroppedCalls drop_some_calls(Database& database, std::string_view job, std::int64_t source) {
  const std::optional<Reach> reach = first_to_do(database, job, source);
  if (!reach) return {};
  std::vector<Row> rows = rows_to_do(database, *reach);
  if (rows.empty()) return {.next_source = reach->source + 1};  // a damaged one stays as it is
  const FirstBatch first = first_of(database, reach->source);
  std::optional<Row> open = row_before(database, reach->source, rows.front().id);
  if (open && open->id == first.id) open.reset();
  bool is_new = false;  // open has changed
  for (Row& row : rows) {
    drop_calls(row.batch);
    const bool joins = open && can_join(first, *open, row);
    if (!joins && is_new) write(database, *open);
    is_new = joins || !row.is_done;
    open = joins ? joined(database, *std::move(open), std::move(row)) : std::move(row);
    if (open->id != first.id) continue;
    write(database, *open);
    open.reset();
    is_new = false;
  }
  if (is_new) write(database, *open);
  return {.next_source = reach->source, .batches = rows.size()};
}

std::vector<std::string> select_jobs_with_kept_calls_to_drop(Database& database) {
  std::vector<std::string> jobs;
  Query row = database.query(
      "SELECT job FROM kept_calls WHERE EXISTS (SELECT 1 FROM sources JOIN batches ON "
      "batches.source = sources.id WHERE sources.job = kept_calls.job AND prints IS NULL AND "
      "batches.id <= through)");
  while (row.next()) jobs.emplace_back(row.text(0));
  return jobs;
}

}  // namespace faultline
