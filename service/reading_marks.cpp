#include "service/reading_marks.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "service/crash_note.h"

namespace faultline {
namespace {

// Each line of the file is one of these words and the name of a job.
constexpr std::string_view kReading = "reading ";
constexpr std::string_view kCrashed = "crashed ";
constexpr std::string_view kSuspected = "suspected ";
constexpr std::string_view kSetAside = "set-aside ";
constexpr std::string_view kBoot = "boot ";  // of the machine, instead of a job

// The job, if the line begins with this word.
std::optional<std::string> job_behind(std::string_view word, const std::string& line) {
  return line.starts_with(word) ? std::optional(line.substr(word.size())) : std::nullopt;
}

// Empty if the system does not say it.
std::string boot_of_machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

}  // namespace

ReadingMarks::Mark::Mark(ReadingMarks& marks, const std::string& job) : marks_(marks) {
  if (marks_.file_.empty()) return;
  std::unique_lock lock(marks_.mutex_);
  const bool alone = marks_.suspected_.contains(job);
  if (alone) {
    marks_.ended_.wait(lock, [&] { return !marks_.others_come_first_; });
    ++marks_.wait_to_be_alone_;
    marks_.ended_.wait(lock, [&] { return marks_.reads_.empty(); });
    --marks_.wait_to_be_alone_;
  } else {
    marks_.ended_.wait(lock, [&] {
      return marks_.wait_to_be_alone_ == 0 &&
             (marks_.reads_.empty() || !marks_.reads_.front().is_alone);
    });
  }
  marks_.reads_.push_back({.job = job, .begun = steady_now(), .is_alone = alone});
  read_ = std::prev(marks_.reads_.end());
  crash_note(&read_->job);
  if (!std::exchange(marks_.is_watching_, true)) marks_.to_watch_.notify_one();
}

ReadingMarks::Mark::~Mark() {
  if (marks_.file_.empty()) return;
  crash_note(nullptr);
  const std::lock_guard lock(marks_.mutex_);
  const bool was_written = read_->is_written;
  marks_.reads_.erase(read_);
  if (was_written) marks_.write();
  marks_.ended_.notify_all();
}

ReadingMarks::ReadingMarks(std::filesystem::path file, std::chrono::milliseconds after)
    : file_(std::move(file)), after_(after), boot_(boot_of_machine()) {
  if (file_.empty()) return;
  learn();
  write();
  note_crashes_in(file_);
  watcher_ = std::thread([this] { watch(); });
}

ReadingMarks::~ReadingMarks() {
  if (file_.empty()) return;
  withdraw();
  to_watch_.notify_one();
  watcher_.join();
  note_no_crashes();
}

void ReadingMarks::learn() {
  std::set<std::string, std::less<>> killed;
  std::optional<std::set<std::string, std::less<>>> crashed;
  std::optional<std::string> boot;
  std::ifstream file(file_);
  for (std::string line; std::getline(file, line);) {
    if (auto id = job_behind(kBoot, line)) boot = std::move(id);
    if (auto job = job_behind(kReading, line)) killed.insert(std::move(*job));
    if (auto job = job_behind(kSuspected, line)) suspected_.insert(std::move(*job));
    if (auto job = job_behind(kSetAside, line)) set_aside_.insert(std::move(*job));
    if (auto job = job_behind(kCrashed, line)) {
      if (!crashed) crashed.emplace();
      if (!job->empty()) crashed->insert(std::move(*job));
    }
  }
  if (boot && *boot != boot_) killed.clear();
  for (const std::string& job : crashed ? *crashed : killed)
    if (suspected_.erase(job) > 0)
      set_aside_.insert(job);
    else
      suspected_.insert(job);
}

// Marks what has been read for long.
void ReadingMarks::watch() {
  std::unique_lock lock(mutex_);
  while (!is_ending_) {
    const auto next = std::ranges::find(reads_, false, &Read::is_written);
    is_watching_ = next != reads_.end();
    if (!is_watching_) {
      to_watch_.wait(lock);
    } else if (const SteadyTime due = next->begun + after_; steady_now() < due) {
      to_watch_.wait_until(lock, due);
    } else {
      next->is_written = true;
      write();
    }
  }
}

void ReadingMarks::write() const noexcept {
  try {
    replace_file();
  } catch (const std::exception&) {
    return;  // no memory: nothing is marked
  }
}

// Another file takes the place of the old one, so that there is never a half of one. If the disk
// refuses, nothing is marked.
void ReadingMarks::replace_file() const {
  std::string text;
  const auto add = [&](std::string_view word, const std::string& job) {
    text.append(word).append(job).append("\n");
  };
  for (const Read& read : reads_)
    if (read.is_written && !is_ending_) add(kReading, read.job);
  for (const std::string& job : suspected_) add(kSuspected, job);
  for (const std::string& job : set_aside_) add(kSetAside, job);
  std::error_code ignored;
  if (text.empty()) {
    std::filesystem::remove(file_, ignored);
    return;
  }
  add(kBoot, boot_);
  const std::string next = file_.string() + ".next";
  const int out = ::open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (out < 0) return;
  const bool is_whole = ::write(out, text.data(), text.size()) == std::ssize(text);
  ::close(out);
  if (is_whole) std::filesystem::rename(next, file_, ignored);
}

bool ReadingMarks::is_suspected(std::string_view job) const {
  const std::lock_guard lock(mutex_);
  return suspected_.contains(job);
}

bool ReadingMarks::is_set_aside(std::string_view job) const {
  const std::lock_guard lock(mutex_);
  return set_aside_.contains(job);
}

bool ReadingMarks::waits_for_others(std::string_view job) const {
  const std::lock_guard lock(mutex_);
  return others_come_first_ && suspected_.contains(job);
}

void ReadingMarks::acquit(std::string_view job) {
  const std::lock_guard lock(mutex_);
  bool is_changed = false;
  for (auto* jobs : {&suspected_, &set_aside_})
    if (const auto found = jobs->find(job); found != jobs->end()) {
      jobs->erase(found);
      is_changed = true;
    }
  if (is_changed) write();
}

bool ReadingMarks::try_again(std::string_view job) {
  const std::lock_guard lock(mutex_);
  const auto found = set_aside_.find(job);
  if (found == set_aside_.end()) return false;
  suspected_.insert(set_aside_.extract(found));
  write();
  return true;
}

void ReadingMarks::read_others_first() {
  const std::lock_guard lock(mutex_);
  others_come_first_ = true;
}

void ReadingMarks::others_are_read() {
  const std::lock_guard lock(mutex_);
  others_come_first_ = false;
  ended_.notify_all();
}

void ReadingMarks::withdraw() {
  const std::lock_guard lock(mutex_);
  if (file_.empty() || std::exchange(is_ending_, true)) return;
  write();
}

}  // namespace faultline
