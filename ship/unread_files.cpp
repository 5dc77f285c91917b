#include "ship/unread_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "ship/log_files.h"

namespace faultline {
namespace {

// Older ones are given up together, so that a server that is away for months costs no memory.
constexpr std::size_t kMostNoted = 4096;

PartMark mark_of_file(const OpenDescriptor& file) {
  std::optional<LogPart> part = LogPart::open(file.again(), 0);
  if (!part) return {};
  std::string nothing;
  part->take(0, nothing);  // passes a hole
  return part->mark_of_file();
}

bool is_deleted(const OpenDescriptor& file) {
  struct stat status{};
  return fstat(file.get(), &status) == 0 && status.st_nlink == 0;
}

}  // namespace

void UnreadFiles::note_current() {
  if (mark_.read > taken_ && came_.size() < kMostNoted)
    came_.push_back({mark_, mark_.read - taken_});
}

// What lies in it now, and what did.
void UnreadFiles::look_at_current() {
  const bool goes_on = LogPart::reopen(current_.again(), mark_, mark_.read).has_value();
  if (!goes_on) {  // it was copied and truncated, or only truncated
    note_current();
    taken_ = 0;
    will_be_read_ = false;
  }
  mark_ = mark_of_file(current_);
}

void UnreadFiles::look(const std::string& path, const std::deque<LogPart>& open) {
  struct stat status{};
  const bool is_there = stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  const FileId id{status.st_dev, status.st_ino};
  if (current_.ok()) {
    look_at_current();
    if (is_there ? mark_.id == id : !is_deleted(current_)) return;
    if (!will_be_read_) note_current();
    current_ = {};
  }
  if (!is_there) return;
  for (LogFile& file : files_of_log(path))
    if (file.is_current) current_ = std::move(file.file);
  mark_ = mark_of_file(current_);
  const auto held =
      std::ranges::find_if(open, [&](const LogPart& part) { return part.id() == mark_.id; });
  will_be_read_ = held != open.end();
  taken_ = will_be_read_ ? held->position() - held->begin() : 0;
}

bool UnreadFiles::end_looking() {
  if (!current_.ok()) return false;
  look_at_current();
  if (!will_be_read_) note_current();
  current_ = {};
  return true;
}

void UnreadFiles::pass(const LogPart& file) {
  std::erase_if(came_, [&](const Unread& unread) { return file.has_read(unread.mark); });
}

UnreadFiles::Lost UnreadFiles::take_lost(const LogPart& file) {
  Lost lost;
  std::erase_if(came_, [&](const Unread& unread) {
    if (file.holds(unread.mark)) return false;
    ++lost.files;
    lost.bytes += unread.bytes;
    return true;
  });
  return lost;
}

}  // namespace faultline
