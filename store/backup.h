// A copy of the store's file, taken while a server writes to it.
#pragma once

#include <filesystem>

#include "store/unfinished_copy.h"

namespace faultline {

// Copies all transactions that were acknowledged before it began. The copy gets its name only when
// it has been checked page by page and is on the disk. Throws StoreError with one line: there is no
// database, the copy exists already, the disk refuses, or a page is damaged.
CopyTold back_up(const std::filesystem::path& database, const std::filesystem::path& copy);

}  // namespace faultline
