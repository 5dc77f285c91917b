#include "ship/log_part.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace faultline {
namespace {

// Up to `size` bytes at `offset`; fewer if the file ends before.
std::string read_at(int descriptor, std::uint64_t offset, std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t have = 0;
  while (have < size) {
    const ssize_t count =
        pread(descriptor, bytes.data() + have, size - have, static_cast<off_t>(offset + have));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    have += static_cast<std::size_t>(count);
  }
  bytes.resize(have);
  return bytes;
}

struct stat status_of(int descriptor) {
  struct stat status{};
  if (fstat(descriptor, &status) != 0) status = {};
  return status;
}

double seconds_of(const timespec& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

BytesMark mark_of(std::string_view bytes) {
  return {bytes.size(), XXH3_64bits(bytes.data(), bytes.size())};
}

OpenDescriptor::~OpenDescriptor() {
  if (descriptor_ >= 0) close(descriptor_);
}
OpenDescriptor::OpenDescriptor(OpenDescriptor&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}
OpenDescriptor& OpenDescriptor::operator=(OpenDescriptor&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

OpenDescriptor OpenDescriptor::again() const {
  return OpenDescriptor(ok() ? fcntl(descriptor_, F_DUPFD_CLOEXEC, 0) : -1);
}

LogPart::LogPart(OpenDescriptor file) : file_(std::move(file)) {
  const struct stat status = status_of(file_.get());
  id_ = {status.st_dev, status.st_ino};
  read_as_of_ = status.st_mtim;
}

std::optional<LogPart> LogPart::open(OpenDescriptor file, std::uint64_t begin) {
  if (!file.ok()) return std::nullopt;
  LogPart part(std::move(file));
  part.begin_ = begin;
  return part;
}

std::optional<LogPart> LogPart::reopen(OpenDescriptor file, const PartMark& mark,
                                       std::uint64_t position) {
  if (!file.ok()) return std::nullopt;
  const int descriptor = file.get();
  const std::uint64_t end = mark.hole + mark.read;
  if (static_cast<std::uint64_t>(status_of(descriptor).st_size) < end) return std::nullopt;
  if (mark_of(read_at(descriptor, mark.hole, mark.head.bytes)) != mark.head) return std::nullopt;
  if (mark_of(read_at(descriptor, end - mark.tail.bytes, mark.tail.bytes)) != mark.tail)
    return std::nullopt;
  LogPart part(std::move(file));
  if (!part.read_again(mark, position)) return std::nullopt;
  return part;
}

// Takes up reading `position` bytes after the first, with what was read before.
bool LogPart::read_again(const PartMark& mark, std::uint64_t position) {
  begin_ = mark.begin;
  hole_ = mark.hole;
  read_ = position;
  known_by_ = mark;
  const std::size_t tail = std::min<std::uint64_t>(position, PartMark::kTail);
  head_ = read_at(file_.get(), hole_, PartMark::kHead);
  tail_ = read_at(file_.get(), hole_ + position - tail, tail);
  return tail_.size() == tail;
}

bool LogPart::holds_what_was_read() const {
  return read_at(file_.get(), hole_, head_.size()) == head_ &&
         read_at(file_.get(), hole_ + read_ - tail_.size(), tail_.size()) == tail_;
}

// A program that writes on where it was after its file was truncated leaves zeros before.
void LogPart::pass_hole() {
  const off_t data = lseek(file_.get(), static_cast<off_t>(hole_), SEEK_DATA);
  if (data > 0) hole_ = static_cast<std::uint64_t>(data);
  constexpr std::size_t kBlock = 4096;
  const std::string block = read_at(file_.get(), hole_, kBlock);
  hole_ += std::min(block.find_first_not_of('\0'), block.size());
}

LogPart::Found LogPart::take(std::size_t most, std::string& bytes) {
  const struct stat status = status_of(file_.get());
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (read_ == 0) pass_hole();
  if (size < hole_ + read_) return Found::rewritten;
  if (size == hole_ + read_) {
    // It may have been written anew to the same size.
    const bool changed =
        status.st_mtim.tv_sec != looked_at_.tv_sec || status.st_mtim.tv_nsec != looked_at_.tv_nsec;
    looked_at_ = status.st_mtim;
    return changed && !holds_what_was_read() ? Found::rewritten : Found::end;
  }
  std::string more = read_at(file_.get(), hole_ + read_, most);
  // Looked at after reading: what is truncated and filled again in between would else pass for its
  // continuation.
  if (!holds_what_was_read()) return Found::rewritten;
  read_as_of_ = status.st_mtim;
  if (more.empty()) return Found::end;
  if (head_.size() < PartMark::kHead) head_ = read_at(file_.get(), hole_, PartMark::kHead);
  read_ += more.size();
  tail_ += more.size() < PartMark::kTail ? more : more.substr(more.size() - PartMark::kTail);
  if (tail_.size() > PartMark::kTail) tail_.erase(0, tail_.size() - PartMark::kTail);
  bytes += more;
  return Found::bytes;
}

bool LogPart::is_all_of(const PartMark& mark) const {
  const int descriptor = file_.get();
  const auto size = static_cast<std::uint64_t>(status_of(descriptor).st_size);
  return size == mark.hole + mark.read &&
         mark_of(read_at(descriptor, mark.hole, mark.head.bytes)) == mark.head &&
         mark_of(read_at(descriptor, size - mark.tail.bytes, mark.tail.bytes)) == mark.tail;
}

bool LogPart::holds(const PartMark& mark) const {
  return reopen(file_.again(), mark, mark.read).has_value();
}

PartMark LogPart::mark_of_file() const {
  PartMark mark{.id = id_, .begin = begin_, .hole = hole_};
  const auto size = static_cast<std::uint64_t>(status_of(file_.get()).st_size);
  mark.read = size - std::min(size, hole_);
  const std::size_t head = std::min<std::uint64_t>(mark.read, PartMark::kHead);
  const std::size_t tail = std::min<std::uint64_t>(mark.read, PartMark::kTail);
  mark.head = mark_of(read_at(file_.get(), hole_, head));
  mark.tail = mark_of(read_at(file_.get(), hole_ + mark.read - tail, tail));
  return mark;
}

bool LogPart::looks_packed() const {
  constexpr std::string_view kMagic[] = {"\x1f\x8b", "\x28\xb5\x2f\xfd",
                                         "\xfd"
                                         "7zXZ",
                                         "BZh", "PK\x03\x04"};
  constexpr std::size_t kTarMagicAt = 257;
  const std::string head = read_at(file_.get(), 0, kTarMagicAt + 5);
  return head.compare(std::min(head.size(), kTarMagicAt), 5, "ustar") == 0 ||
         std::ranges::any_of(kMagic,
                             [&](std::string_view magic) { return head.starts_with(magic); });
}

std::uint64_t LogPart::available() const {
  const auto size = static_cast<std::uint64_t>(status_of(file_.get()).st_size);
  return size - std::min(size, hole_ + read_);
}

bool LogPart::is_deleted() const { return status_of(file_.get()).st_nlink == 0; }

double LogPart::changed_at() const { return seconds_of(status_of(file_.get()).st_mtim); }

double LogPart::read_as_of() const { return seconds_of(read_as_of_); }

PartMark LogPart::mark() const {
  if (known_by_.read > read_) {
    PartMark mark = known_by_;
    mark.id = id_;
    mark.begin = begin_;
    return mark;
  }
  return {.id = id_,
          .begin = begin_,
          .hole = hole_,
          .read = read_,
          .head = mark_of(head_),
          .tail = mark_of(tail_)};
}

}  // namespace faultline
