#include "store/kept_lines.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "store/batches.h"
#include "store/compressed.h"

namespace faultline {
namespace {

constexpr std::size_t kMostContent = std::size_t{256} << 20;
// What a row takes beside its content, roughly.
constexpr std::uint64_t kBytesOfRow = 64;

constexpr std::string_view kColumns =
    "SELECT batch, from_offset, to_offset, lines_before, follows, received, content "
    "FROM kept_lines ";

// Nothing: it is damaged.
std::optional<KeptLines> kept_of(const Query& row) {
  Result<std::string> content = decompressed(row.text(6), kMostContent);
  if (!content) return std::nullopt;
  return KeptLines{.batch = row.integer(0),
                   .from_offset = row.bits(1),
                   .to_offset = row.bits(2),
                   .lines_before = row.bits(3),
                   .follows = row.integer(4) != 0,
                   .received = row.time(5),
                   .content = *std::move(content)};
}

std::optional<std::int64_t> id_of(Database& database, std::string_view job,
                                  std::string_view source) {
  Query row = database.query("SELECT id FROM sources WHERE job = ? AND name = ?", job, source);
  if (!row.next()) return std::nullopt;
  return row.integer(0);
}

template <class... Values>
std::vector<std::int64_t> numbers(Database& database, std::string_view sql,
                                  const Values&... values) {
  std::vector<std::int64_t> numbers;
  Query row = database.query(sql, values...);
  while (row.next()) numbers.push_back(row.integer(0));
  return numbers;
}

struct Selected {
  std::optional<KeptLines> kept;
  bool is_damaged = false;  // the row is there, but cannot be read
};

// Neither is set: the row was deleted meanwhile.
Selected select_one(Database& database, std::int64_t batch) try {
  Query row = database.query(std::string(kColumns) + "WHERE batch = ?", batch);
  if (!row.next()) return {};
  Selected selected{.kept = kept_of(row)};
  selected.is_damaged = !selected.kept;
  return selected;
} catch (const StoreError&) {
  return {.is_damaged = true};
}

}  // namespace

void keep_lines(Database& database, const AdvancedSource& source, const Commit& commit,
                std::string_view content) {
  const Batch& batch = commit.batch;
  const bool follows = source.kept_to == batch.from_offset;
  if (content.empty() && !follows) return;
  database.run("UPDATE sources SET kept_to = ?, kept_bytes = kept_bytes + ? WHERE id = ?",
               batch.to_offset, content.empty() ? 0 : content.size() + kBytesOfRow, source.id);
  if (content.empty()) return;
  database.run(
      "INSERT INTO kept_lines (batch, source, from_offset, to_offset, lines_before, follows, "
      "received, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      commit.number, source.id, batch.from_offset, batch.to_offset,
      commit.position.lines - batch.lines, follows, commit.received, Blob{content});
}

// A batch that was joined from several has the number of the last one.
std::size_t walk_kept_lines(Database& database, std::string_view job, std::string_view source,
                            const std::function<void(const KeptLines&)>& on_lines,
                            const std::function<void(const StoredBatch&)>& on_batch) {
  std::size_t damaged = 0;
  const std::optional<std::int64_t> id = id_of(database, job, source);
  if (!id) return damaged;
  const std::vector<std::int64_t> kept =
      numbers(database, "SELECT batch FROM kept_lines WHERE source = ? ORDER BY batch", *id);
  const std::vector<std::int64_t> batches =
      numbers(database, "SELECT id FROM batches WHERE source = ? ORDER BY id", *id);
  bool has_gap = false;
  auto next = kept.begin();
  for (const std::int64_t batch : batches) {
    bool is_kept = false;
    for (; next != kept.end() && *next <= batch; ++next) {
      Selected lines = select_one(database, *next);
      if (!lines.kept) {
        damaged += lines.is_damaged ? 1 : 0;
        has_gap = true;
        continue;
      }
      lines.kept->follows = lines.kept->follows && !std::exchange(has_gap, false);
      on_lines(*lines.kept);
      is_kept = true;
    }
    if (!is_kept) continue;
    if (const auto stored = select_stored_batch(database, batch)) on_batch(*stored);
  }
  return damaged;
}

// A line may begin in the row before the one in which it ends.
bool visit_kept_lines(Database& database, std::string_view job, std::string_view source,
                      const LineRange& wanted, const std::function<void(const KeptLines&)>& visit) {
  constexpr int kMost = 512;  // each way
  const std::optional<std::int64_t> id = id_of(database, job, source);
  if (!id) return true;
  std::vector<std::int64_t> rows;
  {
    Query row = database.query(
        "SELECT batch, lines_before FROM kept_lines WHERE source = ? AND lines_before < ? "
        "ORDER BY lines_before DESC, batch DESC LIMIT ?",
        *id, wanted.line, kMost);
    while (row.next()) {
      rows.push_back(row.integer(0));
      if (row.bits(1) + 1 < wanted.first) break;
    }
  }
  std::ranges::reverse(rows);
  std::ranges::copy(numbers(database,
                            "SELECT batch FROM kept_lines WHERE source = ? AND lines_before >= ? "
                            "AND lines_before < ? ORDER BY lines_before, batch LIMIT ?",
                            *id, wanted.line, wanted.last, kMost),
                    std::back_inserter(rows));
  bool has_gap = false;
  for (const std::int64_t batch : rows) {
    Selected selected = select_one(database, batch);
    if (!selected.kept) {
      has_gap = true;
      continue;
    }
    if (has_gap) selected.kept->follows = false;
    visit(*selected.kept);
  }
  return !has_gap;
}

std::vector<KeptOfJob> select_kept_of_jobs(Database& database, std::uint64_t more_than) {
  std::vector<KeptOfJob> jobs;
  Query row = database.query(
      "SELECT job, sum(kept_bytes) FROM sources WHERE kept_bytes > 0 AND job > char(1) "
      "GROUP BY job HAVING sum(kept_bytes) > ?",
      more_than);
  while (row.next()) jobs.push_back({std::string(row.text(0)), row.bits(1)});
  return jobs;
}

std::int64_t last_of_oldest_kept_lines(Database& database, std::string_view job,
                                       std::uint64_t bytes) {
  std::int64_t last = 0;
  std::uint64_t found = 0;
  Query row = database.query(
      "SELECT batch, length(content) FROM kept_lines WHERE source IN "
      "(SELECT id FROM sources WHERE job = ? AND kept_bytes > 0) ORDER BY batch",
      job);
  while (found < bytes && row.next()) {
    last = row.integer(0);
    found += row.bits(1) + kBytesOfRow;
  }
  return last;
}

std::optional<std::int64_t> delete_some_kept_lines(Database& database, std::string_view job,
                                                   std::int64_t from, std::int64_t last) {
  constexpr int kAtOnce = 256;
  struct Gone {
    std::int64_t batch = 0;
    std::int64_t source = 0;
    std::uint64_t bytes = 0;
  };
  std::vector<Gone> gone;
  {
    Query row = database.query(
        "SELECT batch, source, length(content) FROM kept_lines WHERE batch BETWEEN ? AND ? AND "
        "source IN (SELECT id FROM sources WHERE job = ?) ORDER BY batch LIMIT ?",
        from, last, job, kAtOnce);
    while (row.next()) gone.push_back({row.integer(0), row.integer(1), row.bits(2) + kBytesOfRow});
  }
  for (const Gone& one : gone) {
    database.run("DELETE FROM kept_lines WHERE batch = ?", one.batch);
    database.run("UPDATE sources SET kept_bytes = kept_bytes - ? WHERE id = ?", one.bytes,
                 one.source);
  }
  if (gone.empty()) return std::nullopt;
  return gone.back().batch + 1;
}

}  // namespace faultline
