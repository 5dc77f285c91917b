#include "store/batches.h"

#include <fmt/format.h>

#include "model/json.h"
#include "store/batch_codec.h"

namespace faultline {
namespace {

struct Stored {
  std::int64_t id = 0;
  Source source;
  Timestamp received;
  Batch batch;
};

StoreError damaged(const Database& database, std::int64_t batch, std::string_view how) {
  return StoreError(
      fmt::format("{}: is damaged (batch {}: {}); restore it from a backup, or move "
                  "it away and send the logs again",
                  database.file().string(), batch, how));
}

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

std::optional<Stored> select_next(Database& database, std::int64_t after, std::int64_t last) {
  Stored stored;
  {
    Query row = database.query(
        "SELECT batches.id, job, name, batches.host, batches.rank, received, content "
        "FROM batches JOIN sources ON sources.id = source "
        "WHERE batches.id > ? AND batches.id <= ? ORDER BY batches.id LIMIT 1",
        after, last);
    if (!row.next()) return std::nullopt;
    stored.id = row.integer(0);
    stored.source = {.job = std::string(row.text(1)),
                     .name = std::string(row.text(2)),
                     .host = std::string(row.text(3)),
                     .rank = static_cast<int>(row.maybe_integer(4).value_or(-1))};
    stored.received = row.time(5);
    auto batch = decode_batch(row.text(6));
    if (!batch) throw damaged(database, stored.id, batch.error().message);
    stored.batch = *std::move(batch);
  }
  stored.batch.events = select_events(database, stored.id);
  return stored;
}

}  // namespace

void insert_batch(Database& database, std::int64_t source, const Commit& commit,
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
}

std::vector<Fingerprint> select_fingerprints(Database& database, std::string_view job,
                                             std::string_view source) {
  std::vector<Fingerprint> prints;
  Query row = database.query(
      "SELECT from_offset, to_offset, digest, head_digest, starts_body FROM batches "
      "WHERE source = (SELECT id FROM sources WHERE job = ? AND name = ?) ORDER BY id",
      job, source);
  while (row.next())
    prints.push_back({.from_offset = row.bits(0),
                      .to_offset = row.bits(1),
                      .digest = row.bits(2),
                      .head_digest = row.bits(3),
                      .starts_body = row.integer(4) != 0});
  return prints;
}

void replay_batches(Database& database,
                    const std::function<void(const Source&, const Batch&, Timestamp)>& visit) {
  const std::int64_t last = database.number("SELECT coalesce(max(id), 0) FROM batches");
  std::int64_t done = 0;
  while (const auto stored = select_next(database, done, last)) {
    visit(stored->source, stored->batch, stored->received);
    done = stored->id;
  }
}

}  // namespace faultline
