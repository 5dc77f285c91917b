#include "store/open.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

#include <system_error>

#include "logging/log.h"
#include "store/log_check.h"
#include "store/migrations.h"

namespace faultline {
namespace {

constexpr std::string_view kRemedy =
    "restore it from a backup, or move it away and send the logs again";

StoreError foreign(const std::filesystem::path& file) {
  return StoreError(
      fmt::format("{}: is not a Faultline database; move it away or choose another data folder",
                  file.string()));
}

StoreError damaged(const std::filesystem::path& file, std::string_view how) {
  return StoreError(fmt::format("{}: is damaged ({}); {}", file.string(), how, kRemedy));
}

StoreError unwritable(const std::filesystem::path& file) {
  return StoreError(fmt::format(
      "{}: cannot be opened for writing; fix its permissions or choose another data folder",
      file.string()));
}

// A new database has no tables and no id yet.
void expect_ours(Database& database) {
  const std::int64_t id = database.number("PRAGMA application_id");
  const bool empty = database.number("SELECT count(*) FROM sqlite_schema") == 0;
  if (id != kApplicationId && !(id == 0 && empty)) throw foreign(database.file());
}

void expect_sound(Database& database, std::string_view check) {
  Query answer = database.query(check);
  if (answer.next() && answer.text(0) != "ok") throw damaged(database.file(), answer.text(0));
}

// Pages with checksums are compared with them at every read, and the service reads all batches when
// it starts. This checks the tables that nobody reads then.
void quick_check(Database& database, std::uint64_t max_fully_checked) {
  const bool small = std::filesystem::file_size(database.file()) <= max_fully_checked;
  if (small && !database.has_checksums()) {
    expect_sound(database, "PRAGMA quick_check(1)");
    return;
  }
  for (const char* table :
       {"sqlite_schema", "sources", "findings", "finding_parts", "reviews", "outbox", "probe"})
    expect_sound(database, fmt::format("PRAGMA quick_check('{}')", table));
}

// Afterwards each source stands where the last whole transaction left it; its sender goes on there.
void warn_of_log(const std::filesystem::path& file) {
  if (is_more_behind_the_end_of_log(file))
    say(LogLevel::warning, "log-damaged",
        fmt::format(
            "{}-wal: is damaged, or a write or the power failed: transactions after its first "
            "invalid frame are dropped; send those logs again",
            file.string()));
}

void use_wal(Database& database) {
  Query mode = database.query("PRAGMA journal_mode = WAL");
  if (!mode.next() || mode.text(0) != "wal")
    throw StoreError(fmt::format(
        "{}: the file system cannot share memory between connections (SQLite's WAL needs that); "
        "choose a data folder on a local disk",
        database.file().string()));
}

std::unique_ptr<Database> open_and_migrate(const std::filesystem::path& file,
                                           std::uint64_t max_fully_checked) {
  warn_of_log(file);
  auto database = std::make_unique<Database>(file, Database::Access::read_write);
  expect_ours(*database);
  use_wal(*database);
  database->execute(
      // Each commit is on the disk before it is acknowledged.
      "PRAGMA synchronous = FULL;"
      "PRAGMA foreign_keys = ON;"
      // In pages: 16 MB. A busy writer's log is copied into the database whenever it has grown by
      // this much, and afterwards cut back to its limit.
      "PRAGMA wal_autocheckpoint = 4096;"
      "PRAGMA journal_size_limit = 67108864;");
  migrate(*database, migrations());
  quick_check(*database, max_fully_checked);
  return database;
}

}  // namespace

StoreLock::StoreLock(const std::filesystem::path& database)
    : descriptor_(::open(database.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
  if (descriptor_ < 0) throw unwritable(database);
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  ::close(descriptor_);
  throw StoreError(fmt::format(
      "{}: is in use by another Faultline process; stop that one or choose another data folder",
      database.string()));
}

StoreLock::~StoreLock() { ::close(descriptor_); }

void provide_folder(const std::filesystem::path& file) {
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return;
  if (!std::filesystem::is_directory(folder.parent_path(), error))
    throw StoreError(
        fmt::format("{}: its folder {} does not exist; create it or choose another "
                    "data folder",
                    file.string(), folder.string()));
  std::filesystem::create_directory(folder, error);
  if (error)
    throw StoreError(
        fmt::format("{}: its folder cannot be created ({}); choose another data "
                    "folder",
                    file.string(), error.message()));
}

std::unique_ptr<Database> open_for_writing(const std::filesystem::path& file,
                                           std::uint64_t max_fully_checked) {
  try {
    return open_and_migrate(file, max_fully_checked);
  } catch (const SqliteError& error) {
    if (error.code == SQLITE_NOTADB) throw foreign(file);
    if (error.code == SQLITE_CORRUPT) throw damaged(file, sqlite3_errstr(error.code));
    if (error.code == SQLITE_IOERR) throw StoreError(fmt::format("{}; {}", error.what(), kRemedy));
    if (error.code == SQLITE_CANTOPEN) throw unwritable(file);
    throw;
  }
}

std::unique_ptr<Database> open_for_reading(const std::filesystem::path& file) {
  return std::make_unique<Database>(file, Database::Access::read_only);
}

}  // namespace faultline
