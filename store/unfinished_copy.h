// A copy of a database while it is made: under a name that nobody takes for a whole one.
#pragma once

#include <cstdint>
#include <filesystem>

#include "store/sqlite.h"

namespace faultline {

// What the copy holds.
struct CopyTold {
  std::uint64_t bytes = 0;
  std::int64_t jobs = 0;
};

// A new file beside the one that it is to become: removed at the end, unless finish() gave it its
// name. For its owner alone, like the database.
class UnfinishedCopy {
 public:
  explicit UnfinishedCopy(const std::filesystem::path& name);
  ~UnfinishedCopy();
  UnfinishedCopy(const UnfinishedCopy&) = delete;
  UnfinishedCopy& operator=(const UnfinishedCopy&) = delete;

  const std::filesystem::path& path() const { return path_; }

  // Checks every page, and makes the copy one file, without a log of its own. Throws StoreError,
  // which says that `original` is damaged.
  CopyTold check(Database& copy, const std::filesystem::path& original) const;

  // Waits until the copy is on the disk.
  void sync() const;

  // The same, and gives it its name. Does not replace a file that
  // somebody made meanwhile.
  void finish() const;

 private:
  std::filesystem::path name_;
  std::filesystem::path path_;
};

// Makes an empty file for its owner alone.
void make_for_owner(const std::filesystem::path& file);

}  // namespace faultline
