#include "ship/kernel_ring.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <utility>

namespace faultline {
namespace {

constexpr std::size_t kMostRecord = 8192;  // the kernel's own limit
constexpr std::size_t kMostMarks = 256;

// 5 of "6,5,1234567,-;text".
std::uint64_t sequence_of(const std::string& record) {
  const std::size_t comma = record.find(',');
  return comma == std::string::npos ? 0 : std::strtoull(record.c_str() + comma + 1, nullptr, 10);
}

}  // namespace

KernelRing::KernelRing(ReaderState saved, std::uint64_t start, std::string boot_time)
    : saved_(std::move(saved)), boot_time_(std::move(boot_time)) {
  if (rewind(start)) return;
  open_device();
  next_ = start;
}

// Opening the device leads to the oldest record that is there.
void KernelRing::open_device() {
  device_ = OpenDescriptor(open(saved_.path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  skip_to_ = 0;
}

// Marks lie where pieces began, and the server takes whole pieces. What it has of the first one it
// skips.
bool KernelRing::rewind(std::uint64_t offset) {
  PartMarks marks = saved_.parts;
  while (!marks.empty() && marks.back().begin > offset) marks.pop_back();
  if (marks.empty() && offset > 0) return false;
  open_device();
  next_ = marks.empty() ? 0 : marks.back().begin;
  skip_to_ = marks.empty() ? 0 : marks.back().id.inode;
  if (!marks.empty()) marks.pop_back();
  saved_.parts = std::move(marks);
  return true;
}

void KernelRing::go_on_at(std::uint64_t offset) {
  next_ = offset;
  saved_.parts.clear();
}

bool KernelRing::read_record(std::string& record) {
  record.resize(kMostRecord);
  for (;;) {
    const ssize_t count = ::read(device_.get(), record.data(), record.size());
    if (count >= 0) {
      record.resize(static_cast<std::size_t>(count));
      return count > 0;
    }
    // The next read gives the oldest record that is left.
    if (errno == EPIPE) remark("the kernel overwrote messages before they were read");
    if (errno != EPIPE && errno != EINTR) return false;
  }
}

std::optional<StreamPiece> KernelRing::take(std::size_t most, bool) {
  StreamPiece piece{next_, {}};
  std::string record;
  while (piece.bytes.size() < most) {
    at_end_ = !read_record(record);
    if (at_end_) break;
    const std::uint64_t sequence = sequence_of(record);
    if (sequence < skip_to_) continue;
    if (piece.bytes.empty())
      saved_.parts.push_back({.id = {.device = 0, .inode = sequence}, .begin = next_});
    skip_to_ = sequence + 1;
    piece.bytes += record;
  }
  if (piece.bytes.empty()) return std::nullopt;
  next_ = piece.to();
  return piece;
}

// False if the oldest records are gone, because then it is not known which the server has.
bool KernelRing::pass_held(std::uint64_t offset, const std::optional<HeldProof>& proof) {
  open_device();
  saved_.parts.clear();
  next_ = 0;
  if (!proof) return false;
  ProofCheck check(*proof);
  for (std::string record; check.passed() < offset && read_record(record);) {
    check.add(record);
    skip_to_ = sequence_of(record) + 1;
  }
  next_ = check.passed();
  if (check.passed() == offset && check.holds()) return true;
  open_device();
  next_ = 0;
  return false;
}

void KernelRing::acknowledge(std::uint64_t offset) {
  saved_.acknowledged = std::max(saved_.acknowledged, offset);
  PartMarks& marks = saved_.parts;
  // The last mark at or before what is acknowledged stays.
  while (marks.size() > 1 && (marks[1].begin <= offset || marks.size() > kMostMarks))
    marks.erase(marks.begin());
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

std::string boot_time_of_host() {
  std::ifstream file("/proc/stat");
  std::string word;
  while (file >> word)
    if (word == "btime" && file >> word) return word;
  return {};
}

}  // namespace faultline
