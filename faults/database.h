// Reads a database through SQLite's own interface, and changes nothing.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace faultline::faults {

// Throws std::runtime_error with SQLite's message.
class OpenedDatabase {
 public:
  explicit OpenedDatabase(const std::filesystem::path& file);

  // Calls row(statement) for each row.
  template <class Row>
  void each(const std::string& sql, const Row& row) {
    const Statement statement = prepare(sql);
    while (step(statement.get())) row(statement.get());
  }
  // The first column of the first row.
  std::string text(const std::string& sql);

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

  Statement prepare(const std::string& sql);
  bool step(sqlite3_stmt* statement);

  std::unique_ptr<sqlite3, Close> handle_;
};

inline std::uint64_t integer_in(sqlite3_stmt* row, int column) {
  return static_cast<std::uint64_t>(sqlite3_column_int64(row, column));
}

// Valid until the next row.
std::string_view text_in(sqlite3_stmt* row, int column);

}  // namespace faultline::faults
