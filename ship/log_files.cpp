#include "ship/log_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <tuple>

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
bool unpack(const std::string& path, FileVisitor& visitor) {
  const OpenDescriptor from(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  Unpacker unpacker("log", Encoding::detect, visitor);
  std::string buffer(std::size_t{64} << 10, '\0');
  while (from.ok()) {
    const ssize_t count = read(from.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    if (count == 0) return static_cast<bool>(unpacker.finish());
    if (!unpacker.feed(std::string_view(buffer).substr(0, static_cast<std::size_t>(count))))
      return false;
  }
  return false;
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
  std::vector<LogFile> files;
  std::error_code error;
  for (fs::directory_iterator entry(log.parent_path().empty() ? "." : log.parent_path(), error),
       end;
       !error && entry != end; entry.increment(error)) {
    const std::string entry_name = entry->path().filename().string();
    const bool is_part = entry_name == name || without_packing(entry_name) == name ||
                         log_name_of(entry_name) == name;
    if (!is_part) continue;
    struct stat status{};
    if (stat(entry->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    files.push_back({.path = entry->path().string(),
                     .id = {status.st_dev, status.st_ino},
                     .changed_at = static_cast<double>(status.st_mtim.tv_sec) +
                                   static_cast<double>(status.st_mtim.tv_nsec) * 1e-9,
                     .packed = is_packed_name(entry_name),
                     .is_current = entry_name == name});
  }
  std::ranges::sort(files, [](const LogFile& a, const LogFile& b) {
    const auto order = [](const LogFile& file) {
      return std::tuple(file.is_current, file.changed_at, -age_in_name(file.path), file.path);
    };
    return order(a) < order(b);
  });
  return files;
}

bool packed_file_begins_with(const std::string& path, const BytesMark& head) {
  HeadOfFile visitor(head.bytes);
  unpack(path, visitor);
  return visitor.has_all() && mark_of(visitor.head()) == head;
}

OpenDescriptor unpack_log_file(const std::string& path, const std::string& folder,
                               std::uint64_t most) {
  OpenDescriptor into(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!into.ok()) return OpenDescriptor();
  IntoDescriptor visitor(into.get(), most);
  return unpack(path, visitor) && visitor.ok() ? std::move(into) : OpenDescriptor();
}

}  // namespace faultline
