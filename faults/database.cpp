#include "faults/database.h"

#include <fmt/format.h>

#include <stdexcept>

namespace faultline::faults {

OpenedDatabase::OpenedDatabase(const std::filesystem::path& file) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &handle, SQLITE_OPEN_READONLY, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK)
    throw std::runtime_error(fmt::format("{}: {}", file.string(), sqlite3_errstr(code)));
  sqlite3_busy_timeout(handle, 5000);
}

std::string OpenedDatabase::text(const std::string& sql) {
  const Statement statement = prepare(sql);
  return step(statement.get()) ? std::string(text_in(statement.get(), 0)) : std::string();
}

OpenedDatabase::Statement OpenedDatabase::prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
    throw std::runtime_error(fmt::format("{}: {}", sql, sqlite3_errmsg(handle_.get())));
  return Statement(statement);
}

bool OpenedDatabase::step(sqlite3_stmt* statement) {
  const int code = sqlite3_step(statement);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  throw std::runtime_error(sqlite3_errmsg(handle_.get()));
}

std::string_view text_in(sqlite3_stmt* row, int column) {
  const void* bytes = sqlite3_column_blob(row, column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes),
          static_cast<std::size_t>(sqlite3_column_bytes(row, column))};
}

}  // namespace faultline::faults
