// SQLite's C interface in classes that own: a database, its statements, transactions.
//
// Only one thread may use a Database at a time: each has its own in the store, or locks a mutex.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "model/time.h"
#include "store/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace faultline {

// Bytes, as opposed to text.
struct Blob {
  std::string_view bytes;
};

// A StoreError with SQLite's own code, for callers that handle failures differently.
struct SqliteError : StoreError {
  SqliteError(const std::string& message, int sqlite_code)
      : StoreError(message), code(sqlite_code) {}
  int code;  // the primary one: SQLITE_CORRUPT, SQLITE_FULL, …
};

// A running statement, which gives its rows one after the other. Must end before its database. The
// same SQL must not be run again meanwhile.
class Query {
 public:
  explicit Query(sqlite3_stmt* statement) : statement_(statement) {}
  ~Query();
  Query(Query&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}
  Query& operator=(Query&&) = delete;

  bool next();  // false: there are no more rows

  // Columns of the current row, from 0. Views are valid until next().
  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  std::string_view text(int column) const;  // also a blob's bytes
  std::optional<std::int64_t> maybe_integer(int column) const;
  Timestamp time(int column) const;
  std::optional<Timestamp> maybe_time(int column) const;
  // An unsigned 64-bit number is stored as the signed number with the same bits.
  std::uint64_t bits(int column) const { return static_cast<std::uint64_t>(integer(column)); }

 private:
  friend class Database;
  void bind(int index, std::nullopt_t);
  void bind(int index, std::string_view text);
  void bind(int index, Blob blob);
  void bind(int index, Timestamp time);
  template <std::integral Integer>
  void bind(int index, Integer value) {
    bind_integer(index, static_cast<std::int64_t>(value));
  }
  template <class T>
  void bind(int index, const std::optional<T>& value) {
    value ? bind(index, *value) : bind(index, std::nullopt);
  }
  void bind_integer(int index, std::int64_t value);
  void check(int code) const;

  sqlite3_stmt* statement_;
};

class Database {
 public:
  enum class Access { read_only, read_write };  // read_write creates the file

  Database(const std::filesystem::path& file, Access access);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // One or more statements without parameters.
  void execute(const std::string& script);
  // The same without exceptions: returns whether it worked.
  bool attempt(const char* script) noexcept;

  // A statement, prepared once. Text and blobs must live until the query ends.
  template <class... Values>
  Query query(std::string_view sql, const Values&... values) {
    Query query(prepared(sql));
    int index = 0;
    (query.bind(++index, values), ...);
    return query;
  }

  // The same, for statements that give no rows.
  template <class... Values>
  void run(std::string_view sql, const Values&... values) {
    Query running = query(sql, values...);
    while (running.next()) {
    }
  }

  // Becomes a copy of another database as it is now, without blocking writers to that one.
  void take_all_of(Database& other);

  // The first column of the first row; there must be one.
  std::int64_t number(std::string_view sql);

  std::int64_t last_insert_id() const;
  bool has_checksums() const;   // of its pages, see guarded_files.h
  bool in_transaction() const;  // SQLite may end one after a failure
  const std::filesystem::path& file() const { return file_; }

 private:
  friend class Transaction;
  friend class Savepoint;

  sqlite3_stmt* prepared(std::string_view sql);

  struct Close {
    void operator()(sqlite3* handle) const;
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };

  std::filesystem::path file_;
  std::unique_ptr<sqlite3, Close> handle_;
  std::map<std::string, std::unique_ptr<sqlite3_stmt, Finalize>, std::less<>> statements_;
  bool may_commit_ = true;  // false: a part of the transaction was left half done
};

// Rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
};

// A part of a transaction that can fail alone: rolled back unless kept.
class Savepoint {
 public:
  explicit Savepoint(Database& database);
  ~Savepoint();
  Savepoint(const Savepoint&) = delete;
  Savepoint& operator=(const Savepoint&) = delete;
  void keep();

 private:
  Database& database_;
  bool kept_ = false;
};

}  // namespace faultline
