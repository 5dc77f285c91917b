// A copy of the store's file, taken while a server writes to it.
#pragma once

#include <cstdint>
#include <filesystem>

namespace faultline {

// What the copy holds.
struct BackupTold {
  std::uint64_t bytes = 0;
  std::int64_t jobs = 0;
};

// Copies all transactions that were acknowledged before it began. The copy gets its name only when
// it has been checked page by page and is on the disk. Throws StoreError with one line: there is no
// database, the copy exists already, the disk refuses, or a page is damaged.
BackupTold back_up(const std::filesystem::path& database, const std::filesystem::path& copy);

}  // namespace faultline
