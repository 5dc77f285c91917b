#include "store/restore.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include "store/log_check.h"
#include "store/migrations.h"
#include "store/open.h"
#include "store/sqlite.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

// SQLite takes a log or journal for part of any database that has the name before it.
constexpr const char* kParts[] = {"-wal", "-journal", ""};

fs::path part_of(const fs::path& database, const char* part) { return database.string() + part; }

bool is_anything_of(const fs::path& database) {
  for (const char* part : kParts)
    if (fs::exists(fs::symlink_status(part_of(database, part)))) return true;
  return false;
}

// Copies bytes, not through SQLite: that would write beside the backup, which may lie on a disk
// that cannot be written.
void copy_bytes(const fs::path& from, const fs::path& to) {
  std::ifstream in(from, std::ios::binary);
  if (!in)
    throw StoreError(fmt::format("{}: cannot be read: {}", from.string(), std::strerror(errno)));
  std::ofstream out(to, std::ios::binary);
  if (in.peek() != std::ifstream::traits_type::eof()) out << in.rdbuf();
  if (!out.flush() || in.bad())
    throw StoreError(fmt::format("{}: cannot be copied to {}: {}", from.string(), to.string(),
                                 std::strerror(errno)));
}

void copy_with_log(const fs::path& backup, const fs::path& copy) {
  copy_bytes(backup, copy);
  const fs::path log = part_of(backup, "-wal");
  std::error_code error;
  if (!fs::exists(log, error)) return;
  make_for_owner(part_of(copy, "-wal"));
  copy_bytes(log, part_of(copy, "-wal"));
}

void expect_ours_and_not_newer(Database& copy) {
  if (copy.number("PRAGMA application_id") != kApplicationId)
    throw StoreError(fmt::format("{}: is not a Faultline database", copy.file().string()));
  const auto newest = static_cast<std::int64_t>(migrations().size());
  if (const std::int64_t schema = copy.number("PRAGMA user_version"); schema > newest)
    throw StoreError(
        fmt::format("{}: was written by a newer Faultline (schema {}, this program knows {}); "
                    "restore it with that version",
                    copy.file().string(), schema, newest));
}

// Errors name the backup, not its copy, which will be gone.
CopyTold check_copy(const UnfinishedCopy& copy, const fs::path& backup) try {
  Database opened(copy.path(), Database::Access::read_write);
  expect_ours_and_not_newer(opened);
  return copy.check(opened, backup);
} catch (const StoreError& error) {
  std::string what = error.what();
  if (what.starts_with(copy.path().string()))
    what.replace(0, copy.path().string().size(), backup.string());
  throw StoreError(what);
}

// The service runs as a user of its own, and has to open what root restores.
void give_to_owner_of(const fs::path& folder, const fs::path& file) {
  struct stat found{};
  if (::geteuid() != 0) return;
  // lchown: whoever owns the folder could have put a link in the file's place.
  if (::stat(folder.c_str(), &found) != 0 ||
      ::lchown(file.c_str(), found.st_uid, found.st_gid) != 0)
    throw StoreError(fmt::format("{}: cannot be given to the owner of its folder: {}",
                                 file.string(), std::strerror(errno)));
}

fs::path free_name_beside(const fs::path& database) {
  fs::path aside;
  for (int number = 1; aside.empty() || is_anything_of(aside); ++number)
    aside = fmt::format("{}.replaced-{}", database.string(), number);
  return aside;
}

// The parts go first: left behind, they would be taken for parts of the copy.
void rename_all(const fs::path& from, const fs::path& to) {
  for (const char* part : kParts)
    if (fs::exists(fs::symlink_status(part_of(from, part))))
      fs::rename(part_of(from, part), part_of(to, part));
  fs::remove(part_of(from, "-shm"));
}

// Puts the copy in the place of what is there, which gets the other name.
void exchange(const UnfinishedCopy& copy, const fs::path& database, const fs::path& aside) {
  rename_all(database, aside);
  try {
    copy.finish();
  } catch (...) {
    if (!is_anything_of(database)) rename_all(aside, database);
    throw;
  }
}

}  // namespace

RestoreTold restore(const fs::path& backup, const fs::path& database, bool replace) {
  std::error_code error;
  if (!fs::is_regular_file(backup, error))
    throw StoreError(fmt::format("{}: there is no such file", backup.string()));
  provide_folder(database);
  std::optional<StoreLock> lock;  // no server may open the old database meanwhile
  if (fs::exists(database, error)) lock.emplace(database);
  const bool is_there = is_anything_of(database);
  if (is_there && !replace)
    throw StoreError(
        fmt::format("{}: already exists; with --replace it is put aside and the backup takes its "
                    "place",
                    database.string()));
  const UnfinishedCopy copy(database);
  copy_with_log(backup, copy.path());
  RestoreTold told;
  told.log_is_cut = is_more_behind_the_end_of_log(copy.path());
  told.copy = check_copy(copy, backup);
  give_to_owner_of(fs::absolute(database).parent_path(), copy.path());
  copy.sync();  // while the old database is still in its place
  if (is_there) {
    told.put_aside = free_name_beside(database);
    exchange(copy, database, told.put_aside);
  } else {
    copy.finish();
  }
  return told;
}

}  // namespace faultline
