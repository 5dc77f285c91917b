// A backup that becomes the store's file again.
#pragma once

#include <filesystem>

#include "store/unfinished_copy.h"

namespace faultline {

struct RestoreTold {
  CopyTold copy;
  std::filesystem::path put_aside;  // the database that was there; empty: none was
  // The backup is a snapshot of a database in use, and its log is damaged: the transactions after
  // the damage are left out.
  bool log_is_cut = false;
};

// Puts a copy of `backup` where the store looks for its database, once each page is checked and the
// copy is on the disk. If a database is there, it is put aside with all that belongs to it if
// `replace`; else that is an error. The copy is for the owner of the file alone; if root restores
// it, that is the owner of the folder. Throws StoreError with one line: a server uses the database
// that is there, the backup is damaged, newer than this program or no backup, the disk refuses.
RestoreTold restore(const std::filesystem::path& backup, const std::filesystem::path& database,
                    bool replace);

}  // namespace faultline
