#include "store/unfinished_copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

namespace faultline {
namespace {

namespace fs = std::filesystem;

void sync_to_disk(const fs::path& path) {
  const int opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool done = opened >= 0 && ::fsync(opened) == 0;
  const int why = errno;
  if (opened >= 0) ::close(opened);
  if (!done) throw StoreError(fmt::format("{}: {}", path.string(), std::strerror(why)));
}

void expect_sound_pages(Database& copy, const fs::path& original) {
  Query answer = copy.query("PRAGMA quick_check(1)");
  if (answer.next() && answer.text(0) != "ok")
    throw StoreError(
        fmt::format("{}: is damaged ({}); no copy was made", original.string(), answer.text(0)));
}

}  // namespace

void make_for_owner(const fs::path& file) {
  const int made = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made < 0)
    throw StoreError(fmt::format("{}: cannot be made: {}", file.string(), std::strerror(errno)));
  ::close(made);
}

UnfinishedCopy::UnfinishedCopy(const fs::path& name)
    : name_(name), path_(name.string() + fmt::format(".unfinished-{}", ::getpid())) {
  make_for_owner(path_);
}

UnfinishedCopy::~UnfinishedCopy() {
  std::error_code ignored;
  for (const char* part : {"", "-wal", "-shm", "-journal"})
    fs::remove(path_.string() + part, ignored);
}

CopyTold UnfinishedCopy::check(Database& copy, const fs::path& original) const {
  expect_sound_pages(copy, original);
  CopyTold told;
  told.jobs = copy.number("SELECT count(*) FROM (SELECT DISTINCT job FROM sources)");
  copy.execute("PRAGMA wal_checkpoint(TRUNCATE);");
  told.bytes = fs::file_size(path_);
  return told;
}

void UnfinishedCopy::sync() const { sync_to_disk(path_); }

void UnfinishedCopy::finish() const {
  sync();
  if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, name_.c_str(), RENAME_NOREPLACE) != 0)
    throw StoreError(
        fmt::format("{}: the copy cannot get this name: {}", name_.string(), std::strerror(errno)));
  sync_to_disk(fs::absolute(name_).parent_path());
}

}  // namespace faultline
