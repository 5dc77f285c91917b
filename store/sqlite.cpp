#include "store/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cassert>

#include "store/guarded_files.h"

namespace faultline {
namespace {

int primary(int code) { return code == SQLITE_IOERR_NOMEM ? SQLITE_NOMEM : code & 0xff; }

[[noreturn]] void fail(sqlite3* handle, int code) {
  const std::string complaint = take_complaint_about_files();
  if (primary(code) == SQLITE_IOERR && !complaint.empty())
    throw SqliteError(complaint, primary(code));
  throw SqliteError(
      fmt::format("{}: {}", sqlite3_db_filename(handle, "main"), sqlite3_errmsg(handle)),
      primary(code));
}

}  // namespace

Query::~Query() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);  // they point into values that end with the query
}

bool Query::next() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  fail(sqlite3_db_handle(statement_), code);
}

bool Query::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t Query::integer(int column) const { return sqlite3_column_int64(statement_, column); }

std::string_view Query::text(int column) const {
  // Must come before the length is asked for, because it may convert the value.
  const void* bytes = sqlite3_column_blob(statement_, column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::optional<std::int64_t> Query::maybe_integer(int column) const {
  if (is_null(column)) return std::nullopt;
  return integer(column);
}

Timestamp Query::time(int column) const {
  return Timestamp(std::chrono::microseconds(integer(column)));
}

std::optional<Timestamp> Query::maybe_time(int column) const {
  if (is_null(column)) return std::nullopt;
  return time(column);
}

void Query::bind(int index, std::nullopt_t) { check(sqlite3_bind_null(statement_, index)); }

void Query::bind(int index, std::string_view text) {
  // An empty view may have no address, which would bind null.
  check(sqlite3_bind_text64(statement_, index, text.empty() ? "" : text.data(), text.size(),
                            SQLITE_STATIC, SQLITE_UTF8));
}

void Query::bind(int index, Blob blob) {
  check(sqlite3_bind_blob64(statement_, index, blob.bytes.empty() ? "" : blob.bytes.data(),
                            blob.bytes.size(), SQLITE_STATIC));
}

void Query::bind(int index, Timestamp time) {
  bind_integer(index, time.time_since_epoch().count());
}

void Query::bind_integer(int index, std::int64_t value) {
  check(sqlite3_bind_int64(statement_, index, value));
}

void Query::check(int code) const {
  if (code != SQLITE_OK) fail(sqlite3_db_handle(statement_), code);
}

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

void Database::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Database::Database(const std::filesystem::path& file, Access access) : file_(file) {
  const int flags = access == Access::read_only ? SQLITE_OPEN_READONLY
                                                : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(file.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX, guarded_files());
  handle_.reset(handle);  // even a failed open must be closed
  if (code != SQLITE_OK)
    throw SqliteError(fmt::format("{}: {}", file.string(), sqlite3_errstr(code)), primary(code));
  sqlite3_extended_result_codes(handle, 1);
  if (access == Access::read_write) keep_checksums_of_pages(handle);
  // Only a person with a shell can hold a lock against us; that is worth a wait, but not a long
  // one.
  sqlite3_busy_timeout(handle, 5000);
}

Database::~Database() = default;

void Database::execute(const std::string& script) {
  const int code = sqlite3_exec(handle_.get(), script.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(handle_.get(), code);
}

bool Database::attempt(const char* script) noexcept {
  return sqlite3_exec(handle_.get(), script, nullptr, nullptr, nullptr) == SQLITE_OK;
}

sqlite3_stmt* Database::prepared(std::string_view sql) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (code != SQLITE_OK) fail(handle_.get(), code);
    found = statements_.emplace(std::string(sql), statement).first;
  }
  assert(!sqlite3_stmt_busy(found->second.get()) && "the same query is still running");
  return found->second.get();
}

std::int64_t Database::number(std::string_view sql) {
  Query row = query(sql);
  if (!row.next()) throw StoreError(fmt::format("{}: no answer to {}", file_.string(), sql));
  return row.integer(0);
}

void Database::take_all_of(Database& other) {
  sqlite3_backup* copying = sqlite3_backup_init(handle_.get(), "main", other.handle_.get(), "main");
  if (copying == nullptr) fail(handle_.get(), sqlite3_errcode(handle_.get()));
  // SQLite writes the first page last, if the copy is larger than its cache.
  expect_pages_as_in(other.handle_.get(), handle_.get());
  // One step copies all pages as of one moment; writes meanwhile go into the other's log.
  sqlite3_backup_step(copying, -1);
  const int code = sqlite3_backup_finish(copying);
  if (code != SQLITE_OK) fail(handle_.get(), code);
}

std::int64_t Database::last_insert_id() const { return sqlite3_last_insert_rowid(handle_.get()); }

bool Database::has_checksums() const { return has_checksums_of_pages(handle_.get()); }

bool Database::in_transaction() const { return sqlite3_get_autocommit(handle_.get()) == 0; }

Transaction::Transaction(Database& database) : database_(database) {
  // The transaction before may still be open, if there was no memory to roll it back.
  if (database_.in_transaction()) database_.attempt("ROLLBACK");
  database_.run("BEGIN IMMEDIATE");
  database_.may_commit_ = true;
}

Transaction::~Transaction() {
  // If this fails, SQLite has rolled back by itself, or the next transaction does it.
  if (database_.in_transaction()) database_.attempt("ROLLBACK");
}

void Transaction::commit() {
  if (!database_.may_commit_)
    throw StoreError("a part of the transaction failed and could not be undone");
  database_.run("COMMIT");
}

Savepoint::Savepoint(Database& database) : database_(database) { database_.run("SAVEPOINT part"); }

Savepoint::~Savepoint() {
  if (kept_ || !database_.in_transaction()) return;
  // The rollback fails if there is no memory.
  if (!database_.attempt("ROLLBACK TO part; RELEASE part")) database_.may_commit_ = false;
}

void Savepoint::keep() {
  database_.run("RELEASE part");
  kept_ = true;
}

}  // namespace faultline
