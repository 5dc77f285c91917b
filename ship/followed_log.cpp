#include "ship/followed_log.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace faultline {
namespace {

// Fewer bytes wait for more, so that a busy log does not come in a thousand pieces.
constexpr std::size_t kWorthTaking = std::size_t{256} << 10;
constexpr std::size_t kMostParts = 64;
constexpr std::uint64_t kMostUnpacked = std::uint64_t{8} << 30;

double system_seconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

}  // namespace

FollowedLog::FollowedLog(ReaderState saved, std::uint64_t start, FollowSettings settings)
    : saved_(std::move(saved)), settings_(std::move(settings)), next_(start) {
  begin();
}

void FollowedLog::begin() {
  if (saved_.parts.empty()) {
    if (!settings_.keeps_to_open_files) begin_new();
    return;
  }
  if (begin_at(next_)) return;
  // What should come next is gone; the part after it may be there.
  note_gap();
  const PartMarks marks = saved_.parts;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (marks[i].begin < next_) continue;
    saved_.parts.assign(marks.begin(), marks.begin() + static_cast<std::ptrdiff_t>(i));
    if (resume(marks[i], 0)) return put_in_line(next_);
  }
  saved_.parts = marks;
  current_ = marks.back().id;
  if (!has_left_its_name()) push_newer(files_of_log(saved_.path), saved_.looked_at);
}

// Oldest first: a part may have grown after the one behind it was taken up. The last may have been
// read further than its mark says.
bool FollowedLog::begin_at(std::uint64_t offset) {
  const PartMarks marks = saved_.parts;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const bool is_last = i + 1 == marks.size();
    if (offset < marks[i].begin || (offset > marks[i].end() && !is_last)) continue;
    saved_.parts.assign(marks.begin(), marks.begin() + static_cast<std::ptrdiff_t>(i));
    if (resume(marks[i], offset - marks[i].begin)) return true;
  }
  saved_.parts = marks;
  return false;
}

// Of a log of which nothing is saved here. Its other files are taken up when the first is left.
void FollowedLog::begin_new() {
  next_ = 0;
  saved_.looked_at = settings_.not_before;
  for (const LogFile& file : files_of_log(saved_.path))
    if (file.changed_at >= settings_.not_before && (file.is_current || !settings_.only_current) &&
        parts_.empty())
      push(file);
}

bool FollowedLog::pass_held(std::uint64_t offset, const std::optional<HeldProof>& proof) {
  parts_.clear();
  saved_.parts.clear();
  begin_new();
  if (!proof) return false;
  ProofCheck check(*proof);
  while (check.passed() < offset && !parts_.empty()) {
    std::string passed;
    const std::size_t most = std::min<std::uint64_t>(offset - check.passed(), kWorthTaking);
    if (parts_.front().take(most, passed) != LogPart::Found::bytes) leave_front();
    check.add(passed);
  }
  if (check.passed() == offset && check.holds()) return true;
  parts_.clear();
  saved_.parts.clear();
  begin_new();
  return false;
}

bool FollowedLog::must_be_saved() { return std::exchange(parts_changed_, false); }

void FollowedLog::note_gap() {
  remark("a file was truncated or deleted; what was not read of it before is lost");
  torn_ = !parts_.empty() ? !parts_.front().ends_with_newline() : false;
}

// Where the last part will end, as far as it is known now.
std::uint64_t FollowedLog::stream_end() const {
  return parts_.empty() ? next_ : parts_.back().position() + parts_.back().available();
}

// Gives the parts their places in the stream, one behind the other.
void FollowedLog::put_in_line(std::uint64_t begin) {
  for (LogPart& part : parts_) {
    part.go_on_at(begin);
    begin = part.position() + part.available();
  }
}

std::optional<LogPart> FollowedLog::reopen(const LogFile& file, const PartMark& mark,
                                           std::uint64_t position) {
  if (!file.packed) return LogPart::reopen(file.file.again(), mark, position);
  if (!begins_with(file, mark.head)) return std::nullopt;
  return LogPart::reopen(unpack(file, settings_.folder, kMostUnpacked), mark, position);
}

std::optional<LogPart> FollowedLog::open(const LogFile& file) {
  if (!file.packed) return LogPart::open(file.file.again(), 0);
  std::optional<LogPart> part = LogPart::open(unpack(file, settings_.folder, kMostUnpacked), 0);
  if (part) part->set_copy();
  return part;
}

// Finds the file that was read up to `mark`, wherever it lies now: under another name, or as a
// copy.
std::optional<std::size_t> FollowedLog::find_file(const std::vector<LogFile>& files,
                                                  const PartMark& mark, std::uint64_t position,
                                                  std::optional<LogPart>& part) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].id != mark.id) continue;
    part = reopen(files[i], mark, position);
    if (part) return i;
  }
  // What was read of it must be enough to tell it from others.
  if (mark.head.bytes < PartMark::kTail) return std::nullopt;
  for (const bool packed : {false, true}) {
    for (std::size_t i = files.size(); i-- > 0;) {
      if (files[i].packed != packed || files[i].id == mark.id) continue;
      part = reopen(files[i], mark, position);
      if (!part) continue;
      if (!files[i].is_current) part->set_copy();
      return i;
    }
  }
  return std::nullopt;
}

bool FollowedLog::name_means(const FileId& id) const {
  struct stat status{};
  return stat(saved_.path.c_str(), &status) == 0 && FileId{status.st_dev, status.st_ino} == id;
}

// The name means a file of another log by now.
bool FollowedLog::has_left_its_name() const {
  return settings_.keeps_to_open_files && !name_means(current_);
}

// What nccl.log.1 was, when it was a log of its own, may be nccl.log.3.gz by now.
std::vector<LogFile> FollowedLog::files_to_resume() const {
  if (!settings_.keeps_to_open_files) return files_of_log(saved_.path);
  const std::filesystem::path path(saved_.path);
  std::vector<LogFile> files =
      files_of_log(path.parent_path() / log_name_of(path.filename().string()));
  for (LogFile& file : files) file.is_current = file.path == saved_.path;
  return files;
}

// Goes on in the file that was read up to `mark`, and in those that came after it.
bool FollowedLog::resume(const PartMark& mark, std::uint64_t position) {
  const std::vector<LogFile> files = files_to_resume();
  std::optional<LogPart> part;
  const std::optional<std::size_t> index = find_file(files, mark, position, part);
  if (!index) return false;
  if (files[*index].is_current) current_ = files[*index].id;
  parts_.push_back(std::move(*part));
  parts_changed_ = true;
  if (!settings_.keeps_to_open_files) push_after(files, *index + 1);
  return true;
}

// A file that was read or is open, perhaps under another name or as a copy. A new file may have the
// inode of a deleted one, or begin as an old one did.
bool FollowedLog::is_known(const LogFile& file) {
  PartMarks marks = saved_.parts;
  for (const LogPart& part : parts_) {
    if (part.id() == file.id) return true;
    marks.push_back(part.mark_of_file());
  }
  std::optional<LogPart> unpacked;
  return std::ranges::any_of(marks, [&](const PartMark& mark) {
    if (mark.read == 0) return false;
    if (file.packed) {
      if (mark.read < PartMark::kTail || !begins_with(file, mark.head)) return false;
      if (!unpacked) unpacked = open(file);
      return unpacked && unpacked->is_all_of(mark);
    }
    if (mark.id == file.id) return reopen(file, mark, mark.read).has_value();
    const std::optional<LogPart> part = open(file);
    return mark.read >= PartMark::kTail && part && part->is_all_of(mark);
  });
}

void FollowedLog::push(const LogFile& file) {
  // It is unpacked when its turn comes: that is looked up again.
  if (file.packed && !parts_.empty()) return;
  const auto tried = unreadable_.find(file.id.inode);
  if (tried != unreadable_.end() && tried->second == file.changed_at) return;
  std::optional<LogPart> part = open(file);
  if (part && part->looks_packed()) part.reset();
  if (!part) {
    unreadable_[file.id.inode] = file.changed_at;
    return remark(fmt::format("{} cannot be read{}", file.path,
                              file.packed ? ", or holds no single file" : ", or is packed"));
  }
  part->go_on_at(stream_end());
  if (file.is_current) current_ = file.id;
  parts_.push_back(std::move(*part));
  parts_changed_ = true;
}

void FollowedLog::push_after(const std::vector<LogFile>& files, std::size_t index) {
  for (; index < files.size(); ++index)
    if (!is_copy_of_current(files, index) && !is_known(files[index])) push(files[index]);
}

// A copy whose original is not truncated yet. It is found when that has happened. Files may begin
// alike, so their ends are compared, too.
bool FollowedLog::is_copy_of_current(const std::vector<LogFile>& files, std::size_t index) {
  const LogFile& file = files[index];
  const auto its_name = std::ranges::find_if(files, &LogFile::is_current);
  if (file.is_current || its_name == files.end()) return false;
  const std::optional<LogPart> current = open(*its_name);
  if (!current) return false;
  if (file.packed && !begins_with(file, current->mark_of_file().head)) return false;
  const std::optional<LogPart> copy = open(file);
  if (!copy) return false;
  const PartMark whole = copy->mark_of_file();
  return whole.read >= PartMark::kTail && reopen(*its_name, whole, whole.read).has_value();
}

// Those that changed since then, in seconds of the system's clock.
void FollowedLog::push_newer(const std::vector<LogFile>& files, double since) {
  for (std::size_t i = 0; i < files.size(); ++i)
    if ((files[i].is_current || files[i].changed_at >= since) && !is_copy_of_current(files, i) &&
        !is_known(files[i]))
      push(files[i]);
}

// Whether the log's name means another file now, and which files came in between.
void FollowedLog::look() {
  const Clock::time_point now = Clock::now();
  if (now - looked_at_ < settings_.between_looks) return;
  looked_at_ = now;
  if (has_left_its_name()) {
    is_there_ = !parts_.empty();
    return;
  }
  struct stat status{};
  const bool is_there = stat(saved_.path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  is_there_ = is_there;
  const FileId id{status.st_dev, status.st_ino};
  if (is_there && parts_.empty()) {
    if (!last_ || !resume(*last_, last_->read))
      push_newer(files_of_log(saved_.path), saved_.looked_at);
  } else if (is_there && id != current_) {
    const std::vector<LogFile> files = files_of_log(saved_.path);
    const auto before =
        std::ranges::find_if(files, [&](const LogFile& file) { return file.id == current_; });
    if (before != files.end())
      push_after(files, static_cast<std::size_t>(before - files.begin()) + 1);
    else if (!goes_on_in_replacement(files))
      push_newer(files, saved_.looked_at);
  }
  if (is_there) saved_.looked_at = system_seconds();
}

// A program such as rsync puts a longer copy in place of a file.
bool FollowedLog::goes_on_in_replacement(const std::vector<LogFile>& files) {
  const auto its_name = std::ranges::find_if(files, &LogFile::is_current);
  const LogPart& held = parts_.back();
  const PartMark whole = held.mark_of_file();
  if (its_name == files.end() || whole.read == 0 || !held.holds_what_was_read()) return false;
  std::optional<LogPart> copy = reopen(*its_name, whole, held.position() - held.begin());
  if (!copy) return false;
  current_ = copy->id();
  parts_.back() = std::move(*copy);
  parts_changed_ = true;
  return true;
}

// The first bytes of the file that has the log's name were just read. Before, it may have been
// copied and truncated, and then the copy comes first. Looked at after reading, as a copy is there
// before anything is written behind it. True: what was read comes later.
bool FollowedLog::others_come_first(std::uint64_t position) {
  if (saved_.parts.empty()) return false;
  const PartMark& left = saved_.parts.back();
  const std::vector<LogFile> files = files_of_log(saved_.path);
  std::optional<LogPart> part;
  const std::optional<std::size_t> index = find_file(files, left, left.read, part);
  if (!index || *index + 2 >= files.size()) return false;
  std::deque<LogPart> begun = std::exchange(parts_, {});
  push_after(files, *index + 1);
  if (parts_.empty() || parts_.front().id() == begun.front().id()) {
    parts_ = std::move(begun);
    return false;
  }
  put_in_line(position);
  return true;
}

// The file was written anew. What was not read of it may lie in a copy.
void FollowedLog::recover() {
  std::optional<LogPart> copy;
  const LogPart& front = parts_.front();
  if (find_file(files_of_log(saved_.path), front.mark(), front.position() - front.begin(), copy)) {
    parts_.front() = std::move(*copy);
    parts_changed_ = true;
    recovers_since_.reset();
    return;
  }
  const Clock::time_point now = Clock::now();
  if (!recovers_since_) recovers_since_ = now;
  if (now - *recovers_since_ < settings_.for_copy) return;
  recovers_since_.reset();
  note_gap();
  leave_front();
}

// Goes to the next file. Those that wait may have been written anew or rotated further meanwhile,
// so what comes next is looked up again; but what was deleted can be had only from them.
void FollowedLog::leave_front() {
  last_ = parts_.front().mark();
  next_ = parts_.front().position();
  const double read_as_of = parts_.front().read_as_of();
  saved_.parts.push_back(*last_);
  if (saved_.parts.size() > kMostParts) saved_.parts.erase(saved_.parts.begin());
  parts_.pop_front();
  parts_changed_ = true;
  rests_since_ = {};
  if (has_left_its_name()) return put_in_line(next_);
  const std::vector<LogFile> files = files_of_log(saved_.path);
  std::optional<LogPart> left;
  const std::optional<std::size_t> index = find_file(files, *last_, last_->read, left);
  // With none open, one that is packed is opened if its turn has come.
  std::deque<LogPart> held = std::exchange(parts_, {});
  if (index) {
    std::erase_if(held, [&](const LogPart& part) { return part.id() == left->id(); });
    // A copy may hold more than what it is a copy of.
    if (left->available() > 0) parts_.push_front(std::move(*left));
    const std::size_t place = parts_.size();
    push_after(files, *index + 1);
    put_back(std::move(held), place, std::span(files).subspan(*index + 1));
  } else {
    // It is gone. What came after it was written after it.
    push_newer(files, read_as_of);
    const auto newer = std::ranges::find_if(
        files, [&](const LogFile& file) { return file.changed_at >= read_as_of; });
    put_back(std::move(held), 0, std::span(newer, files.end()));
  }
  put_in_line(next_);
}

void FollowedLog::look_on() {
  const Clock::time_point now = Clock::now();
  if (now - looked_on_at_ < settings_.between_looks_on) return;
  looked_on_at_ = now;
  if (!has_left_its_name()) unread_.look(saved_.path, parts_);
}

// Of the files that came while nothing could be taken, some may have been deleted. All that were
// not are read before the file that has the log's name.
void FollowedLog::tell_lost() {
  if (unread_.empty()) return;
  const LogPart& front = parts_.front();
  unread_.pass(front);
  if (parts_.size() > 1 || !name_means(front.id())) return;
  const UnreadFiles::Lost lost = unread_.take_lost(front);
  if (lost.files > 0)
    remark(fmt::format(
        "{} bytes in {} files, which were rotated away before they could be taken, are lost",
        lost.bytes, lost.files));
}

// Puts parts that were open, and were not found again, among those that were, in their order: they
// are deleted, or lie where nobody looks. `place`: of the first that was found. `files`: whose turn
// comes.
void FollowedLog::put_back(std::deque<LogPart> held, std::size_t place,
                           std::span<const LogFile> files) {
  for (LogPart& part : held) {
    const PartMark whole = part.mark_of_file();
    const auto is_same = [&](const LogPart& other) {
      return other.id() == part.id() || other.is_all_of(whole);
    };
    const auto found =
        std::find_if(parts_.begin() + static_cast<std::ptrdiff_t>(place), parts_.end(), is_same);
    if (found != parts_.end()) {
      place = static_cast<std::size_t>(found - parts_.begin()) + 1;
      continue;
    }
    // What is packed is unpacked when its turn comes.
    const bool is_packed = std::ranges::any_of(files, [&](const LogFile& file) {
      if (!file.packed || !begins_with(file, whole.head)) return false;
      const std::optional<LogPart> same = open(file);
      return same && same->is_all_of(whole);
    });
    if (is_packed || part.is_copy()) continue;
    parts_.insert(parts_.begin() + static_cast<std::ptrdiff_t>(place), std::move(part));
    ++place;
  }
}

// Whether nothing more is written to the part: to a renamed file a program may write for long, if
// it was not told of it.
bool FollowedLog::is_finished(const LogPart& front) {
  if (front.is_copy()) return true;
  const Clock::time_point now = Clock::now();
  if (rests_since_ == Clock::time_point{}) rests_since_ = now;
  constexpr double kLongAgo = 60;
  const double changed_at = front.changed_at();
  // By the clock of the file system, which may not be this host's.
  const auto rested_beside = [&](const LogPart& later) {
    return std::chrono::duration<double>(later.changed_at() - changed_at) >= settings_.rest;
  };
  if (now - rests_since_ < settings_.rest && system_seconds() - changed_at < kLongAgo &&
      std::none_of(parts_.begin() + 1, parts_.end(), rested_beside))
    return false;
  return std::any_of(parts_.begin() + 1, parts_.end(),
                     [](const LogPart& part) { return part.available() > 0; }) ||
         (parts_.size() == 1 && front.is_deleted());
}

bool FollowedLog::begins_current_file() const {
  return !parts_.empty() && !parts_.front().is_begun() && parts_.front().id() == current_ &&
         parts_.front().available() > 0;
}

std::optional<StreamPiece> FollowedLog::take(std::size_t most, bool hurry) {
  if (unread_.end_looking()) looked_at_ = {};
  look();
  const Clock::time_point now = Clock::now();
  while (!parts_.empty()) {
    LogPart& front = parts_.front();
    // The first bytes of a file are taken at once: without them it cannot be known again.
    const bool may_wait = front.is_begun() && parts_.size() == 1 && !hurry;
    if (may_wait && front.available() < kWorthTaking &&
        !pace_.has_waited(now, system_seconds() - front.changed_at()))
      return std::nullopt;
    StreamPiece piece{front.position(), {}};
    if (torn_) piece.bytes = "\n";
    const bool begins = !front.is_begun();
    const LogPart::Found found = front.take(most, piece.bytes);
    if (begins && found == LogPart::Found::bytes) {
      parts_changed_ = true;
      if (front.id() == current_ && others_come_first(piece.from)) return std::nullopt;
    }
    if (found != LogPart::Found::rewritten) tell_lost();
    if (found == LogPart::Found::bytes) {
      if (std::exchange(torn_, false)) front.go_on_at(front.position() + 1);
      pace_.take(now);
      rests_since_ = {};
      return piece;
    }
    if (found == LogPart::Found::rewritten) {
      recover();
      if (recovers_since_) return std::nullopt;
    } else {
      if (!is_finished(front)) return std::nullopt;
      leave_front();
    }
    // Whoever asks may first look who writes the new file.
    if (begins_current_file()) return std::nullopt;
  }
  return std::nullopt;
}

bool FollowedLog::at_end() const {
  return std::ranges::all_of(parts_, [](const LogPart& part) { return part.available() == 0; });
}

bool FollowedLog::rewind(std::uint64_t offset) {
  ReaderState all = saved();
  std::deque<LogPart> open = std::exchange(parts_, {});
  PartMarks left = std::exchange(saved_.parts, std::move(all.parts));
  if (begin_at(offset)) {
    torn_ = false;
    next_ = offset;
    return true;
  }
  parts_ = std::move(open);
  saved_.parts = std::move(left);
  return false;
}

void FollowedLog::go_on_at(std::uint64_t offset) {
  put_in_line(offset);
  next_ = offset;
  last_.reset();
  saved_.parts.clear();
}

void FollowedLog::acknowledge(std::uint64_t offset) {
  saved_.acknowledged = std::max(saved_.acknowledged, offset);
}

ReaderState FollowedLog::saved() const {
  ReaderState all = saved_;
  for (const LogPart& part : parts_) all.parts.push_back(part.mark());
  if (all.parts.size() > kMostParts)
    all.parts.erase(all.parts.begin(), all.parts.end() - kMostParts);
  return all;
}

}  // namespace faultline
