#include "store/backup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <system_error>

#include "store/open.h"
#include "store/sqlite.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

// The copy under a temporary name: removed at the end, unless name_it() gave it its own.
class Unfinished {
 public:
  explicit Unfinished(const fs::path& copy)
      : path_(copy.string() + fmt::format(".unfinished-{}", ::getpid())) {
    // For its owner alone, like the database.
    const int made = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (made < 0)
      throw StoreError(fmt::format("{}: cannot be made: {}", path_.string(), std::strerror(errno)));
    ::close(made);
  }
  ~Unfinished() {
    std::error_code ignored;
    for (const char* part : {"", "-wal", "-shm", "-journal"})
      fs::remove(path_.string() + part, ignored);
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

  const fs::path& path() const { return path_; }

  // Does not replace a copy that somebody made meanwhile.
  void name_it(const fs::path& copy) const {
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, copy.c_str(), RENAME_NOREPLACE) != 0)
      throw StoreError(fmt::format("{}: the copy cannot get this name: {}", copy.string(),
                                   std::strerror(errno)));
  }

 private:
  fs::path path_;
};

void sync(const fs::path& path) {
  const int opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool done = opened >= 0 && ::fsync(opened) == 0;
  const int why = errno;
  if (opened >= 0) ::close(opened);
  if (!done) throw StoreError(fmt::format("{}: {}", path.string(), std::strerror(why)));
}

// Reports damage instead of making a copy of it.
void expect_sound(Database& database, const fs::path& named) {
  Query answer = database.query("PRAGMA quick_check(1)");
  if (answer.next() && answer.text(0) != "ok")
    throw StoreError(
        fmt::format("{}: is damaged ({}); no copy was made", named.string(), answer.text(0)));
}

}  // namespace

BackupTold back_up(const fs::path& database, const fs::path& copy) {
  std::error_code error;
  if (!fs::exists(database, error))
    throw StoreError(
        fmt::format("{}: there is no such database; name the folder that the server uses as --data",
                    database.string()));
  if (fs::exists(copy, error))
    throw StoreError(fmt::format("{}: already exists; choose another name", copy.string()));
  const std::unique_ptr<Database> from = open_for_reading(database);
  const Unfinished unfinished(copy);
  BackupTold told;
  {
    Database to(unfinished.path(), Database::Access::read_write);
    to.take_all_of(*from);
    expect_sound(to, database);
    told.jobs = to.number("SELECT count(*) FROM (SELECT DISTINCT job FROM sources)");
    // One file, without a log of its own.
    to.execute("PRAGMA wal_checkpoint(TRUNCATE);");
  }
  told.bytes = fs::file_size(unfinished.path());
  sync(unfinished.path());
  unfinished.name_it(copy);
  sync(fs::absolute(copy).parent_path());
  return told;
}

}  // namespace faultline
