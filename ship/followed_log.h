// FollowedLog: the files of one log as one stream, through rotation and truncation.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ship/log_files.h"
#include "ship/log_part.h"
#include "ship/log_reader.h"
#include "ship/send_pace.h"
#include "ship/unread_files.h"

namespace faultline {

struct FollowSettings {
  std::string folder;  // for what has to be unpacked
  // Of a log that was never read: files that did not change since are not read. Seconds of the
  // system's clock.
  double not_before = 0;
  // A program may write to a file for a while after it was renamed.
  std::chrono::milliseconds rest{2000};
  // A copy of a file that was truncated may not be there at once, or is just being packed.
  // Meanwhile the new file is not read, and may be truncated itself.
  std::chrono::milliseconds for_copy{1000};
  bool only_current = false;  // of a log that was never read: not its older files
  // Another log has the files that come under this name: only what was begun is read, to its end.
  bool keeps_to_open_files = false;
  std::chrono::milliseconds between_looks{200};
  // While nothing can be taken.
  std::chrono::milliseconds between_looks_on{1000};
};

class FollowedLog : public LogReader {
 public:
  // `saved`: where an earlier reader stood; its marks are empty for a log that was never read.
  // `start`: goes on there in the stream; 0 for a log that was never read.
  FollowedLog(ReaderState saved, std::uint64_t start, FollowSettings settings);

  std::optional<StreamPiece> take(std::size_t most, bool hurry) override;
  bool at_end() const override;
  bool rewind(std::uint64_t offset) override;
  void go_on_at(std::uint64_t offset) override;
  void rename(LogTarget target) override { saved_.target = std::move(target); }
  bool pass_held(std::uint64_t offset, const std::optional<HeldProof>& proof) override;
  void acknowledge(std::uint64_t offset) override;
  bool must_be_saved() override;
  ReaderState saved() const override;
  const LogTarget& target() const override { return saved_.target; }

  // Nothing can be taken for now. Looks which files come meanwhile, so that those that are deleted
  // before they can be read are told of.
  void look_on();
  // From now on another log has the files that come: goes on with what is open, to its end, and
  // with what is written anew to the file that has the name.
  void keep_to_open_files() { settings_.keeps_to_open_files = true; }
  bool keeps_to_open_files() const { return settings_.keeps_to_open_files; }

  // What comes next is the beginning of the file that has the log's name now.
  bool begins_current_file() const;
  // The log is gone, and all of it was read.
  bool is_gone() const { return parts_.empty() && !is_there_; }

 private:
  void begin();
  bool begin_at(std::uint64_t offset);
  void begin_new();
  void put_in_line(std::uint64_t begin);
  bool name_means(const FileId& id) const;
  bool has_left_its_name() const;
  std::vector<LogFile> files_to_resume() const;
  bool goes_on_in_replacement(const std::vector<LogFile>& files);
  bool is_finished(const LogPart& front);
  void look();
  bool resume(const PartMark& mark, std::uint64_t position);
  std::optional<std::size_t> find_file(const std::vector<LogFile>& files, const PartMark& mark,
                                       std::uint64_t position, std::optional<LogPart>& part);
  std::optional<LogPart> reopen(const LogFile& file, const PartMark& mark, std::uint64_t position);
  std::optional<LogPart> open(const LogFile& file);
  bool is_known(const LogFile& file);
  bool is_copy_of_current(const std::vector<LogFile>& files, std::size_t index);
  void push(const LogFile& file);
  void push_after(const std::vector<LogFile>& files, std::size_t index);
  void push_newer(const std::vector<LogFile>& files, double since);
  bool others_come_first(std::uint64_t position);
  void recover();
  void leave_front();
  void put_back(std::deque<LogPart> held, std::size_t place, std::span<const LogFile> files);
  void note_gap();
  void tell_lost();
  std::uint64_t stream_end() const;

  ReaderState saved_;
  FollowSettings settings_;
  std::deque<LogPart> parts_;     // the first is read; its followers wait
  FileId current_;                // the file that the log's name meant last
  std::optional<PartMark> last_;  // of the part that was left last
  std::uint64_t next_ = 0;        // where the stream goes on if no part is open
  bool torn_ = false;             // a line was cut by a gap
  bool parts_changed_ = true;
  // The front was written anew, and its rest is looked for.
  std::optional<Clock::time_point> recovers_since_;
  bool is_there_ = false;
  UnreadFiles unread_;
  SendPace pace_;
  Clock::time_point rests_since_{};             // the front: nothing was written to it
  std::map<std::uint64_t, double> unreadable_;  // inodes, and the times of their change
  Clock::time_point looked_at_{};
  Clock::time_point looked_on_at_{};
};

}  // namespace faultline
