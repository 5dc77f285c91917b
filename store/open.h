// Opening the store's file: what must hold before a database is used.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "store/sqlite.h"

namespace faultline {

// While it lives, no other process can open the same store. It locks the database itself, in
// another way than SQLite's own locks, which come and go with each transaction. Creates the file if
// it is missing, for its owner alone. Must outlive the store's connections: closing any descriptor
// of a file gives up the process's other locks on it.
class StoreLock {
 public:
  explicit StoreLock(const std::filesystem::path& database);
  ~StoreLock();
  StoreLock(const StoreLock&) = delete;
  StoreLock& operator=(const StoreLock&) = delete;

 private:
  int descriptor_;
};

// Creates the folder of `file` if only that is missing.
void provide_folder(const std::filesystem::path& file);

// A file without checksums that is larger than this is not checked page by page on opening, which
// would delay the start too long. Only its small tables are checked; the rest are batches, which
// the replay after every start reads.
constexpr std::uint64_t kMaxFullyChecked = std::uint64_t{256} << 20;

// Opens or creates the database for writing, checks it and brings its schema up to date. Throws
// StoreError with one line that says what is wrong with the file and what to do.
std::unique_ptr<Database> open_for_writing(const std::filesystem::path& file,
                                           std::uint64_t max_fully_checked = kMaxFullyChecked);

std::unique_ptr<Database> open_for_reading(const std::filesystem::path& file);

// The id in the header of a database that Faultline made, as in schema/0001_initial.sql.
constexpr std::int64_t kApplicationId = 0x464C544C;

}  // namespace faultline
