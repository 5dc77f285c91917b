#include "store/batches.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_map>

#include "model/json.h"
#include "store/batch_codec.h"
#include "store/kept_calls.h"
#include "store/prints.h"

namespace faultline {
namespace {

struct Stored {
  std::int64_t source_id = 0;
  StoredBatch told;
};

StoreError damaged(const Database& database, std::int64_t batch, std::string_view how) {
  return StoreError(
      fmt::format("{}: is damaged (batch {}: {}); restore it from a backup, or move "
                  "it away and send the logs again",
                  database.file().string(), batch, how));
}

// The job of sources that are being deleted. No sender can give a job this name.
constexpr std::string_view kForgotten = "\x01";

// Whether the batches of each source follow each other without a gap, up to the offset that its row
// says was read.
class Coverage {
 public:
  void add(const Stored& stored) {
    Reach& reach = reaches_[stored.source_id];
    reach.whole &= stored.told.batch.from_offset == reach.to;
    reach.to = stored.told.batch.to_offset;
  }

  // That something could not be read: the batch, or all of them (0).
  void note(const StoreError& error, std::int64_t batch = 0) {
    const auto* told = dynamic_cast<const SqliteError*>(&error);
    const bool for_lack_of_memory = told != nullptr && told->code == SQLITE_NOMEM;
    // Damage is not over when there is memory again.
    if (!how_.empty() && (for_lack_of_memory || !for_lack_of_memory_)) return;
    how_ = error.what();
    unread_ = batch;
    for_lack_of_memory_ = for_lack_of_memory;
  }

  std::vector<DamagedSource> damaged(Database& database, std::string_view job) const {
    std::vector<DamagedSource> damaged;
    Query row = database.query("SELECT id, name, read_to FROM sources WHERE job = ?", job);
    while (row.next()) {
      const auto found = reaches_.find(row.integer(0));
      const Reach reach = found == reaches_.end() ? Reach{} : found->second;
      // Its batches may reach further: a commit may have come meanwhile.
      if (reach.whole && reach.to >= row.bits(2)) continue;
      damaged.push_back({.name = std::string(row.text(1)),
                         .how = how_.empty() ? "a batch of it is missing" : how_,
                         .for_lack_of_memory = for_lack_of_memory_});
    }
    // A batch of a last line without an end covers no bytes, so its loss leaves no gap.
    if (damaged.empty() && !how_.empty())
      damaged.push_back({.name = source_of(database, unread_),
                         .how = how_,
                         .for_lack_of_memory = for_lack_of_memory_});
    return damaged;
  }

 private:
  static std::string source_of(Database& database, std::int64_t batch) {
    const std::string unknown = "one of its logs";
    try {
      Query row = database.query(
          "SELECT name FROM sources JOIN batches ON batches.source = sources.id "
          "WHERE batches.id = ?",
          batch);
      return row.next() ? std::string(row.text(0)) : unknown;
    } catch (const StoreError&) {
      return unknown;  // the same page is damaged, most likely
    }
  }

  struct Reach {
    std::uint64_t to = 0;
    bool whole = true;
  };

  std::unordered_map<std::int64_t, Reach> reaches_;
  std::string how_;
  bool for_lack_of_memory_ = false;
  std::int64_t unread_ = 0;
};

void insert_event(Database& database, std::int64_t batch, const Event& event,
                  const std::vector<Speaker>& speakers) {
  std::optional<Speaker> speaker;
  if (event.speaker < speakers.size()) speaker = speakers[event.speaker];
  std::optional<std::string_view> host;
  std::optional<std::int64_t> pid;
  std::optional<int> device;
  std::optional<int> rank;
  if (speaker) {
    host = speaker->host;
    pid = speaker->pid;
    device = speaker->device;
    rank = speaker->rank;
  }
  const std::string fact = fact_to_json(event.fact);
  database.run(
      "INSERT INTO events (batch, place, line, offset, wall, uncertainty, zone_assumed, uptime, "
      "speaker, host, pid, device, rank, kind, fact, text) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      batch, event.order, event.line, event.offset, event.time.wall_us, event.time.uncertainty_us,
      event.time.zone_assumed, event.time.uptime_us, event.speaker, host, pid, device, rank,
      kind_of(event.fact), fact, event.text);
}

std::vector<Event> select_events(Database& database, std::int64_t batch) {
  std::vector<Event> events;
  Query row = database.query(
      "SELECT place, line, offset, wall, uncertainty, zone_assumed, uptime, speaker, kind, fact, "
      "text FROM events WHERE batch = ? ORDER BY place",
      batch);
  while (row.next()) {
    auto fact = fact_from_json(row.text(8), row.text(9));
    if (!fact) throw damaged(database, batch, fact.error().message);
    events.push_back({.order = static_cast<std::uint32_t>(row.integer(0)),
                      .speaker = static_cast<std::uint32_t>(row.integer(7)),
                      .line = row.bits(1),
                      .offset = row.bits(2),
                      .time = {.wall_us = row.maybe_integer(3),
                               .uncertainty_us = row.integer(4),
                               .zone_assumed = row.integer(5) != 0,
                               .uptime_us = row.maybe_integer(6)},
                      .fact = *std::move(fact),
                      .text = std::string(row.text(10))});
  }
  return events;
}

std::optional<Stored> select_batch(Database& database, std::int64_t id) {
  Stored stored;
  StoredBatch& told = stored.told;
  {
    Query row = database.query(
        "SELECT batches.id, job, name, batches.host, batches.rank, received, content, source "
        "FROM batches JOIN sources ON sources.id = source "
        "WHERE batches.id = ?",
        id);
    if (!row.next()) return std::nullopt;
    told.number = row.integer(0);
    told.source = {.job = std::string(row.text(1)),
                   .name = std::string(row.text(2)),
                   .host = std::string(row.text(3)),
                   .rank = static_cast<int>(row.maybe_integer(4).value_or(-1))};
    told.received = row.time(5);
    stored.source_id = row.integer(7);
    auto batch = decode_batch(row.text(6));
    if (!batch) throw damaged(database, told.number, batch.error().message);
    told.batch = *std::move(batch);
  }
  told.batch.events = select_events(database, told.number);
  return stored;
}

// Kept calls that cannot be read may cover any of the batches.
std::optional<KeptCalls> kept_calls_of(Database& database, std::string_view job) {
  try {
    return select_kept_calls(database, job);
  } catch (const StoreError& error) {
    return KeptCalls{INT64_MAX, Error{Error::Kind::invalid_input,
                                      fmt::format("cannot be read: {}", error.what())}};
  }
}

// In the order of commits.
std::vector<std::int64_t> batches_of(Database& database, std::string_view job, Coverage& coverage) {
  std::vector<std::int64_t> ids;
  try {
    Query row = database.query(
        "SELECT batches.id FROM sources JOIN batches ON batches.source = sources.id "
        "WHERE job = ? ORDER BY batches.id",
        job);
    while (row.next()) ids.push_back(row.integer(0));
  } catch (const StoreError& error) {
    coverage.note(error);
  }
  return ids;
}

}  // namespace

std::int64_t insert_batch(Database& database, std::int64_t source, const Commit& commit,
                          std::string_view content) {
  const std::optional<int> rank =
      commit.source.rank >= 0 ? std::optional(commit.source.rank) : std::nullopt;
  const Fingerprint& print = commit.fingerprint;
  database.run(
      "INSERT INTO batches (source, host, rank, received, from_offset, to_offset, digest, "
      "head_digest, starts_body, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      source, commit.source.host, rank, commit.received, print.from_offset, print.to_offset,
      print.digest, print.head_digest, print.starts_body, Blob{content});
  const std::int64_t batch = database.last_insert_id();
  for (const Event& event : commit.batch.events)
    insert_event(database, batch, event, commit.batch.speakers);
  return batch;
}

namespace {

constexpr std::string_view kBlocks =
    "SELECT id, from_offset, to_offset, digest, head_digest, starts_body, prints FROM batches "
    "WHERE source = (SELECT id FROM sources WHERE job = ? AND name = ?) ";

// The same columns, and the name. All names that begin with "NAME#" lie before "NAME$".
constexpr std::string_view kNumberedBlocks =
    "SELECT batches.id, from_offset, to_offset, digest, head_digest, starts_body, prints, name "
    "FROM sources LEFT JOIN batches ON batches.source = sources.id AND starts_body = 1 "
    "WHERE job = ?1 AND (name = ?2 OR (name > ?2 || '#' AND name < ?2 || '$')) "
    "ORDER BY length(name), name, batches.id";

bool is_numbered(std::string_view candidate, std::string_view name) {
  candidate.remove_prefix(std::min(candidate.size(), name.size() + 1));
  return candidate.find_first_not_of("0123456789") == std::string_view::npos;
}

// A batch that was joined from several holds the prints of all of them.
std::vector<HeldBlock> held_blocks(const Database& database, const Query& row) {
  if (!row.is_null(6) && !row.text(6).empty()) try {
      return read_prints(row.text(6));
    } catch (const BadBytes& error) {
      throw damaged(database, row.integer(0), error.what());
    }
  return {{.batch = row.integer(0),
           .print = {.from_offset = row.bits(1),
                     .to_offset = row.bits(2),
                     .digest = row.bits(3),
                     .head_digest = row.bits(4),
                     .starts_body = row.integer(5) != 0}}};
}

}  // namespace

std::vector<HeldBlock> select_body_starts(Database& database, std::string_view job,
                                          std::string_view source, std::size_t at_most) {
  std::vector<HeldBlock> latest_first;
  Query row =
      database.query(fmt::format("{}AND starts_body = 1 ORDER BY id DESC", kBlocks), job, source);
  while (latest_first.size() < at_most && row.next()) {
    const std::vector<HeldBlock> blocks = held_blocks(database, row);
    std::copy_if(blocks.rbegin(), blocks.rend(), std::back_inserter(latest_first),
                 [](const HeldBlock& block) { return block.print.starts_body; });
  }
  if (latest_first.size() > at_most) latest_first.resize(at_most);
  return {latest_first.rbegin(), latest_first.rend()};
}

std::optional<Fingerprint> select_last_block(Database& database, std::string_view job,
                                             std::string_view source) {
  Query row = database.query(fmt::format("{}ORDER BY id DESC LIMIT 1", kBlocks), job, source);
  if (!row.next()) return std::nullopt;
  const std::vector<HeldBlock> blocks = held_blocks(database, row);
  return blocks.empty() ? std::nullopt : std::optional(blocks.back().print);
}

std::vector<HeldBlock> select_blocks_after(Database& database, std::string_view job,
                                           std::string_view source, std::int64_t batch) {
  constexpr std::size_t kAtOnce = 64;
  std::vector<HeldBlock> blocks;
  Query row = database.query(fmt::format("{}AND id > ? ORDER BY id", kBlocks), job, source, batch);
  while (blocks.size() < kAtOnce && row.next())
    for (const HeldBlock& block : held_blocks(database, row))
      if (block.batch > batch && blocks.size() < kAtOnce) blocks.push_back(block);
  return blocks;
}

std::vector<NumberedSource> select_numbered_sources(Database& database, std::string_view job,
                                                    std::string_view name) {
  std::vector<NumberedSource> sources;
  Query row = database.query(kNumberedBlocks, job, name);
  while (row.next()) {
    if (!is_numbered(row.text(7), name)) continue;
    if (sources.empty() || sources.back().name != row.text(7))
      sources.push_back({std::string(row.text(7)), {}});
    if (row.is_null(0)) continue;
    std::ranges::copy_if(held_blocks(database, row), std::back_inserter(sources.back().starts),
                         [](const HeldBlock& block) { return block.print.starts_body; });
  }
  return sources;
}

std::vector<DamagedSource> replay_batches(
    Database& database, std::string_view job,
    const std::function<void(std::string_view packed)>& take_calls,
    const std::function<void(const StoredBatch&)>& visit) {
  Coverage coverage;
  // Kept calls are read before the batches: a batch loses its calls only after they are kept.
  const std::vector<std::int64_t> ids = batches_of(database, job, coverage);
  const std::optional<KeptCalls> kept = kept_calls_of(database, job);
  if (kept && kept->packed) take_calls(*kept->packed);
  for (const std::int64_t id : ids) {
    std::optional<Stored> stored;
    try {
      stored = select_batch(database, id);
    } catch (const StoreError& error) {
      coverage.note(error, id);
    }
    if (!stored) continue;  // `coverage` shows that it is missing
    coverage.add(*stored);
    stored->told.calls_are_kept = kept && id <= kept->through;
    visit(stored->told);
  }
  std::vector<DamagedSource> damaged = coverage.damaged(database, job);
  if (kept && !kept->packed)
    damaged.push_back(
        {.name = "its calls", .how = "their stored result " + kept->packed.error().message});
  return damaged;
}

std::optional<StoredBatch> select_stored_batch(Database& database, std::int64_t number) {
  std::optional<Stored> stored = select_batch(database, number);
  if (!stored) return std::nullopt;
  return std::move(stored->told);
}

void replace_batch(Database& database, const ChangedBatch& changed, std::string_view content) {
  database.run("UPDATE batches SET content = ? WHERE id = ?", Blob{content}, changed.number);
  if (database.number("SELECT changes()") == 0) return;
  database.run("DELETE FROM events WHERE batch = ?", changed.number);
  for (const Event& event : changed.batch.events)
    insert_event(database, changed.number, event, changed.batch.speakers);
  database.run(
      "UPDATE sources SET recognized = recognized + ?, facts = facts + ? WHERE id = (SELECT source "
      "FROM batches WHERE id = ?)",
      changed.more_recognized, changed.more_facts, changed.number);
}

// `prints` NULL says that a batch has calls to drop. Here it also says of one whose calls are gone
// that it has lost events, so that drop_some_calls() looks at it again and may join it to others.
void delete_events(Database& database, const EventsOfBatch& events) {
  for (const std::uint32_t place : events.places)
    database.run("DELETE FROM events WHERE batch = ? AND place = ?", events.batch, place);
  database.run("UPDATE batches SET prints = NULL WHERE id = ? AND length(prints) = 0",
               events.batch);
}

bool was_received_after(Database& database, std::string_view job, Timestamp time) {
  Query row = database.query("SELECT 1 FROM sources WHERE job = ? AND last_received > ? LIMIT 1",
                             job, time);
  return row.next();
}

bool forget_sources(Database& database, std::string_view job) {
  database.run(
      "UPDATE sources SET name = job || char(1) || id || char(1) || name, job = ? WHERE job = ?",
      kForgotten, job);
  return database.number("SELECT changes()") > 0;
}

bool delete_some_batches(Database& database) {
  constexpr int kAtOnce = 16;
  database.run(
      "DELETE FROM kept_lines WHERE batch IN (SELECT batch FROM sources JOIN kept_lines ON "
      "kept_lines.source = sources.id WHERE job = ? LIMIT ?)",
      kForgotten, kAtOnce);
  if (database.number("SELECT changes()") > 0) return true;
  database.run(
      "DELETE FROM batches WHERE id IN (SELECT batches.id FROM sources JOIN batches ON "
      "batches.source = sources.id WHERE job = ? LIMIT ?)",
      kForgotten, kAtOnce);
  if (database.number("SELECT changes()") > 0) return true;
  delete_forgotten_sources(database);
  return false;
}

std::vector<std::int64_t> forgotten_batches(Database& database) {
  std::set<std::int64_t> batches;
  for (const char* of_table :
       {"SELECT batches.id FROM sources JOIN batches ON batches.source = sources.id WHERE job = ?",
        "SELECT batch FROM sources JOIN kept_lines ON kept_lines.source = sources.id WHERE job = "
        "?"}) {
    Query row = database.query(of_table, kForgotten);
    while (row.next()) batches.insert(row.integer(0));
  }
  return {batches.begin(), batches.end()};
}

void delete_batch(Database& database, std::int64_t batch) {
  database.run("DELETE FROM kept_lines WHERE batch = ?", batch);
  database.run("DELETE FROM batches WHERE id = ?", batch);
}

void delete_forgotten_sources(Database& database) {
  database.run(
      "DELETE FROM sources WHERE job = ? AND NOT EXISTS (SELECT 1 FROM batches WHERE source = "
      "sources.id) AND NOT EXISTS (SELECT 1 FROM kept_lines WHERE source = sources.id)",
      kForgotten);
}

}  // namespace faultline
