// ReadingMarks: tells the next process which jobs this one was reading when it died. A job that was
// being read at two deaths in a row, the second time alone, is set aside: else the service would
// die of it after each start.
//
// Of a crash (an abort, a segmentation fault) it is known which thread caused it, and what that one
// read. Who was killed for want of memory had no time to say anything; an operator's kill -9 looks
// the same. So a kill counts only against jobs that had been read for some time: nearly all jobs
// are read within milliseconds, and what fills the memory takes longer.
//
// Nothing is synced, because what a process wrote outlives it. What another boot of the machine
// left there blames nobody: a power cut is no job's fault.
#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <list>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "service/clock.h"

namespace faultline {

class ReadingMarks {
 private:
  struct Read {
    std::string job;
    SteadyTime begun;
    bool is_alone = false;
    bool is_written = false;
  };

 public:
  static constexpr std::chrono::milliseconds kLong{300};

  // No `file`: nothing is marked, and no job suspected. A kill counts once a job has been read for
  // longer than `after`.
  explicit ReadingMarks(std::filesystem::path file, std::chrono::milliseconds after = kLong);
  ~ReadingMarks();  // nobody died
  ReadingMarks(const ReadingMarks&) = delete;
  ReadingMarks& operator=(const ReadingMarks&) = delete;

  // The thread reads this job while this lives. One that is suspected is read alone: this waits
  // until it may be.
  class Mark {
   public:
    Mark(ReadingMarks& marks, const std::string& job);
    ~Mark();
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;

   private:
    ReadingMarks& marks_;
    std::list<Read>::iterator read_;
  };

  bool is_suspected(std::string_view job) const;  // it was being read at the last death
  bool is_set_aside(std::string_view job) const;
  bool waits_for_others(std::string_view job) const;
  // The job was read, and nobody died; or it was deleted.
  void acquit(std::string_view job);
  // A job that is set aside may be read once more. False: it is not set aside.
  bool try_again(std::string_view job);
  // Suspected jobs wait to be read until others_are_read().
  void read_others_first();
  void others_are_read();
  // The process is about to end. If it is killed from now on, no job is to blame.
  void withdraw();

 private:
  void learn();
  void watch();
  void write() const noexcept;  // the file; the mutex is locked
  void replace_file() const;

  const std::filesystem::path file_;
  const std::chrono::milliseconds after_;
  const std::string boot_;  // of the machine

  mutable std::mutex mutex_;
  std::condition_variable ended_;  // a read
  std::condition_variable to_watch_;
  std::list<Read> reads_;
  std::set<std::string, std::less<>> suspected_;
  std::set<std::string, std::less<>> set_aside_;
  bool others_come_first_ = false;
  int wait_to_be_alone_ = 0;
  bool is_watching_ = false;  // it will look at the oldest read in time
  bool is_ending_ = false;
  std::thread watcher_;  // last: it uses the rest
};

}  // namespace faultline
