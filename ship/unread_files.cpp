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
  const std::optional<LogPart> part = LogPart::open(file.again(), 0);
  return part ? part->mark_of_file() : PartMark{};
}

}  // namespace

void UnreadFiles::note_current() {
  if (mark_.read > taken_ && came_.size() < kMostNoted)
    came_.push_back({mark_, mark_.read - taken_});
}

void UnreadFiles::look(const std::string& path, const std::deque<LogPart>& open) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const FileId id{status.st_dev, status.st_ino};
  if (current_.ok()) {
    const bool goes_on = LogPart::reopen(current_.again(), mark_, mark_.read).has_value();
    if (!goes_on) {  // it was copied and truncated, or only truncated
      note_current();
      taken_ = 0;
      will_be_read_ = false;
    }
    mark_ = mark_of_file(current_);
    if (mark_.id == id) return;
    if (!will_be_read_) note_current();
    current_ = {};
  }
  for (LogFile& file : files_of_log(path))
    if (file.is_current) current_ = std::move(file.file);
  mark_ = mark_of_file(current_);
  const auto held =
      std::ranges::find_if(open, [&](const LogPart& part) { return part.id() == mark_.id; });
  will_be_read_ = held != open.end();
  taken_ = will_be_read_ ? held->position() - held->begin() : 0;
}

void UnreadFiles::end_looking() {
  if (!current_.ok()) return;
  mark_ = mark_of_file(current_);
  if (!will_be_read_) note_current();
  current_ = {};
}

UnreadFiles::Lost UnreadFiles::take_lost(const std::function<Place(const PartMark&)>& place_of) {
  Lost lost;
  std::erase_if(came_, [&](const Unread& unread) {
    const Place place = place_of(unread.mark);
    if (place == Place::nowhere) {
      ++lost.files;
      lost.bytes += unread.bytes;
    }
    return place != Place::there;
  });
  return lost;
}

}  // namespace faultline
