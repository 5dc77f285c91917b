#include "ship/log_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <tuple>
#include <utility>

#include "ingest/unpack.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPacked[] = {".gz", ".zst", ".xz", ".bz2"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view without_packing(std::string_view name) {
  for (const std::string_view packed : kPacked)
    if (name.ends_with(packed) && name.size() > packed.size())
      return name.substr(0, name.size() - packed.size());
  return name;
}

// 20261128, 2026-11-28, 20261128-1530, 2026-11-28_15: what rotation puts behind a name. A long
// number that is no date is the id of a process.
bool is_date(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (is_digit(c))
      digits += c;
    else if (c != '-' && c != '_' && c != 'T' && c != ':')
      return false;
  }
  if (digits.size() < 8 || digits.size() > 14 || !digits.starts_with("20")) return false;
  const int month = std::stoi(digits.substr(4, 2));
  const int day = std::stoi(digits.substr(6, 2));
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

// How many rotations ago: 3 of nccl.log.3; 0: no such number.
int age_in_name(std::string_view name) {
  name = without_packing(name);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return 0;
  const std::string_view digits = name.substr(dot + 1);
  constexpr std::size_t kMostDigits = 3;
  if (digits.empty() || digits.size() > kMostDigits || !std::ranges::all_of(digits, is_digit))
    return 0;
  return std::stoi(std::string(digits));
}

// Writes the only file in the bytes into a descriptor.
class IntoDescriptor : public FileVisitor {
 public:
  IntoDescriptor(int descriptor, std::uint64_t most) : descriptor_(descriptor), left_(most) {}

  void open(std::string_view) override { ++files_; }
  void bytes(std::string_view piece) override {
    if (piece.size() > left_) failed_ = true;
    left_ -= std::min<std::uint64_t>(left_, piece.size());
    while (!piece.empty() && !failed_) {
      const ssize_t count = write(descriptor_, piece.data(), piece.size());
      if (count < 0 && errno == EINTR) continue;
      failed_ = count <= 0;
      if (!failed_) piece.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  void close() override {}
  void unreadable(std::uint64_t, std::string_view) override { failed_ = true; }
  bool wants_more() override { return !failed_; }

  bool ok() const { return !failed_ && files_ == 1; }

 private:
  int descriptor_;
  std::uint64_t left_;
  int files_ = 0;
  bool failed_ = false;
};

// Keeps the first bytes.
class HeadOfFile : public FileVisitor {
 public:
  explicit HeadOfFile(std::size_t wanted) : wanted_(wanted) {}

  void open(std::string_view) override {}
  void bytes(std::string_view piece) override {
    head_ += piece.substr(0, wanted_ - std::min(wanted_, head_.size()));
  }
  void close() override {}
  void unreadable(std::uint64_t, std::string_view) override {}
  bool wants_more() override { return head_.size() < wanted_; }

  bool has_all() const { return head_.size() == wanted_; }
  const std::string& head() const { return head_; }

 private:
  std::size_t wanted_;
  std::string head_;
};

// False: it cannot be read or unpacked to its end.
bool unpack_into(FileVisitor& visitor, const LogFile& packed) {
  Unpacker unpacker("log", Encoding::detect, visitor);
  std::string buffer(std::size_t{64} << 10, '\0');
  off_t at = 0;
  while (packed.file.ok()) {
    const ssize_t count = pread(packed.file.get(), buffer.data(), buffer.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    if (count == 0) return static_cast<bool>(unpacker.finish());
    at += count;
    if (!unpacker.feed(std::string_view(buffer).substr(0, static_cast<std::size_t>(count))))
      return false;
  }
  return false;
}

OpenDescriptor open_by_steps(const fs::path& path) {
  OpenDescriptor folder(open(path.is_absolute() ? "/" : ".", O_PATH | O_CLOEXEC));
  for (const fs::path& name : path.parent_path().relative_path())
    folder = OpenDescriptor(
        openat(folder.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC));
  return OpenDescriptor(openat(folder.get(), path.filename().c_str(),
                               O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
}

// Paths of logs have no links (find_logs). Whoever puts one there meanwhile wants something else
// to be read.
OpenDescriptor open_without_links(const std::string& path) {
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const long file = syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how);
  // Kernels before 5.6, and containers that do not allow it.
  if (file < 0 && (errno == ENOSYS || errno == EPERM)) return open_by_steps(path);
  return OpenDescriptor(static_cast<int>(file));
}

// What a folder has of a log: the names, with their inodes.
using Names = std::vector<std::pair<std::string, std::uint64_t>>;

Names names_of_log(const std::string& folder, const std::string& name) {
  Names names;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
  while (const dirent* entry = entries ? readdir(entries.get()) : nullptr) {
    const std::string_view other = entry->d_name;
    if (!other.starts_with(name)) continue;
    if (other == name || without_packing(other) == name || log_name_of(other) == name)
      names.emplace_back(other, entry->d_ino);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

bool is_packed_name(std::string_view file_name) { return without_packing(file_name) != file_name; }

std::string log_name_of(std::string_view file_name) {
  const std::string_view plain = without_packing(file_name);
  if (age_in_name(file_name) > 0) return std::string(plain.substr(0, plain.rfind('.')));
  // nccl.log-20261128, nccl.log.2026-11-28: at the first separator behind which only a date is
  // left.
  for (std::size_t at = plain.find_first_of(".-_"); at != std::string_view::npos;
       at = plain.find_first_of(".-_", at + 1))
    if (at > 0 && is_date(plain.substr(at + 1))) return std::string(plain.substr(0, at));
  return std::string(plain);
}

std::vector<LogFile> files_of_log(const std::string& path) {
  const fs::path log(path);
  const std::string name = log.filename().string();
  const fs::path folder = log.has_parent_path() ? log.parent_path() : ".";
  // While files are renamed, a list may have one twice, or not at all.
  constexpr int kMostTries = 10;
  std::vector<LogFile> files;
  Names names = names_of_log(folder, name);
  for (int tries = 0; tries < kMostTries; ++tries) {
    files.clear();
    for (const auto& [file_name, inode] : names) {
      LogFile file{.path = (folder / file_name).string(),
                   .packed = is_packed_name(file_name),
                   .is_current = file_name == name};
      struct stat status{};
      if (lstat(file.path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
      file.file = open_without_links(file.path);
      if (file.file.ok() && (fstat(file.file.get(), &status) != 0 || !S_ISREG(status.st_mode)))
        continue;
      file.id = {status.st_dev, status.st_ino};
      file.changed_at = static_cast<double>(status.st_mtim.tv_sec) +
                        static_cast<double>(status.st_mtim.tv_nsec) * 1e-9;
      files.push_back(std::move(file));
    }
    Names now = names_of_log(folder, name);
    if (now == names) break;
    names = std::move(now);
  }
  std::ranges::sort(files, [](const LogFile& a, const LogFile& b) {
    const auto order = [](const LogFile& file) {
      return std::tuple(file.is_current, file.changed_at, -age_in_name(file.path), file.path);
    };
    return order(a) < order(b);
  });
  return files;
}

bool begins_with(const LogFile& packed, const BytesMark& head) {
  HeadOfFile visitor(head.bytes);
  unpack_into(visitor, packed);
  return visitor.has_all() && mark_of(visitor.head()) == head;
}

OpenDescriptor unpack(const LogFile& packed, const std::string& folder, std::uint64_t most) {
  OpenDescriptor into(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!into.ok()) return OpenDescriptor();
  // The spool needs room there, too.
  struct statvfs disk{};
  if (fstatvfs(into.get(), &disk) != 0) return OpenDescriptor();
  IntoDescriptor visitor(into.get(),
                         std::min<std::uint64_t>(most, disk.f_bavail * disk.f_frsize / 2));
  if (!unpack_into(visitor, packed) || !visitor.ok()) return OpenDescriptor();
  struct stat status{};
  if (fstat(packed.file.get(), &status) != 0) return OpenDescriptor();
  const timespec times[] = {status.st_atim, status.st_mtim};
  if (futimens(into.get(), times) != 0) return OpenDescriptor();
  return into;
}

}  // namespace faultline
