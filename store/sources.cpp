#include "store/sources.h"

#include <fmt/format.h>

#include <utility>

#include "store/compressed.h"

namespace faultline {
namespace {

constexpr std::size_t kSmallCarry = 4096;

std::string carry_of(const Query& row) {
  if (row.integer(12) == 0) return std::string(row.text(6));
  Result<std::string> carry = decompressed(row.text(6), StoredCarry::kMostBytes);
  if (!carry)
    throw StoreError(fmt::format("what waits for more of {} of job {} {}", row.text(1), row.text(0),
                                 carry.error().message));
  return *std::move(carry);
}

StoredSource source_of(const Query& row) {
  return {.source = {.job = std::string(row.text(0)),
                     .name = std::string(row.text(1)),
                     .host = std::string(row.text(2)),
                     .rank = static_cast<int>(row.maybe_integer(3).value_or(-1))},
          .position = {.offset = row.bits(4),
                       .lines = row.bits(5),
                       .carry = carry_of(row),
                       .recent = std::string(row.text(13))},
          .recognized = row.bits(7),
          .facts = row.bits(8),
          .complete = row.integer(9) != 0,
          .last_received = row.time(10),
          .kept_to = row.bits(11)};
}

void expect_offset(const Commit& commit, std::uint64_t stored) {
  if (commit.batch.from_offset == stored) return;
  throw SourceMovedOn(
      fmt::format("source moved on: {} of job {} stands at offset {}, not {}", commit.source.name,
                  commit.source.job, stored, commit.batch.from_offset),
      stored);
}

std::optional<int> rank_of(const Source& source) {
  return source.rank >= 0 ? std::optional(source.rank) : std::nullopt;
}

std::int64_t insert_source(Database& database, const Commit& commit, const StoredCarry& carry) {
  database.run(
      "INSERT INTO sources (job, name, host, rank, read_to, lines, carry, carry_form, recent, "
      "recognized, facts, complete, last_received) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      commit.source.job, commit.source.name, commit.source.host, rank_of(commit.source),
      commit.position.offset, commit.position.lines, Blob{carry.bytes()}, carry.form(),
      Blob{commit.position.recent}, commit.batch.recognized, commit.batch.facts(), commit.complete,
      commit.received);
  return database.last_insert_id();
}

// If a sender stops naming its host or rank, the known ones stay.
void update_source(Database& database, std::int64_t id, const Commit& commit,
                   const StoredCarry& carry) {
  database.run(
      "UPDATE sources SET host = coalesce(nullif(?, ''), host), rank = coalesce(?, rank), "
      "read_to = ?, lines = ?, carry = ?, carry_form = ?, recent = ?, "
      "recognized = recognized + ?, facts = facts + ?, complete = ?, last_received = ? WHERE id = "
      "?",
      commit.source.host, rank_of(commit.source), commit.position.offset, commit.position.lines,
      Blob{carry.bytes()}, carry.form(), Blob{commit.position.recent}, commit.batch.recognized,
      commit.batch.facts(), commit.complete, commit.received, id);
}

}  // namespace

StoredCarry::StoredCarry(std::string carry)
    : is_compressed_(carry.size() > kSmallCarry),
      bytes_(is_compressed_ ? compressed(carry) : std::move(carry)) {}

std::vector<StoredJob> select_jobs(Database& database) {
  std::vector<StoredJob> jobs;
  Query row = database.query(
      "SELECT job, max(last_received) FROM sources WHERE job > char(1) GROUP BY job ORDER BY job");
  while (row.next()) jobs.push_back({std::string(row.text(0)), row.time(1)});
  return jobs;
}

std::vector<StoredSource> select_sources(Database& database, std::string_view job) {
  std::vector<StoredSource> sources;
  Query row = database.query(
      "SELECT job, name, host, rank, read_to, lines, '', recognized, facts, complete, "
      "last_received, kept_to, 0, '' FROM sources WHERE job = ? ORDER BY name",
      job);
  while (row.next()) sources.push_back(source_of(row));
  return sources;
}

std::optional<StoredSource> select_source(Database& database, std::string_view job,
                                          std::string_view name) {
  Query row = database.query(
      "SELECT job, name, host, rank, read_to, lines, carry, recognized, facts, complete, "
      "last_received, kept_to, carry_form, recent FROM sources WHERE job = ? AND name = ?",
      job, name);
  if (!row.next()) return std::nullopt;
  return source_of(row);
}

AdvancedSource advance_source(Database& database, const Commit& commit, const StoredCarry& carry) {
  AdvancedSource source;
  std::uint64_t stored = 0;
  {
    Query row =
        database.query("SELECT id, read_to, kept_to FROM sources WHERE job = ? AND name = ?",
                       commit.source.job, commit.source.name);
    if (row.next()) {
      source = {.id = row.integer(0), .kept_to = row.bits(2)};
      stored = row.bits(1);
    }
  }
  expect_offset(commit, stored);
  if (source.id == 0)
    source.id = insert_source(database, commit, carry);
  else
    update_source(database, source.id, commit, carry);
  return source;
}

}  // namespace faultline
