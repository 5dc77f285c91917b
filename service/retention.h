// Retention: deletes what is old, so that a server that is left running does not fill its disk.
//
// A job is deleted as a whole. Its findings stay, with their evidence lines, for as long as
// findings are kept: the history of a host is longer than the logs of its jobs.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "service/clock.h"
#include "service/live_jobs.h"
#include "store/store.h"

namespace faultline {

// 0: no limit. A field that is not set is as for all jobs.
struct KeptJobs {
  std::string jobs;  // pattern of their names; '*' stands for any characters
  std::optional<std::chrono::seconds> age = {};
  std::optional<std::uint64_t> lines = {};  // bytes of them; 0: none are kept
};

struct RetentionSettings {
  std::vector<KeptJobs> of_some;    // the first that matches the job and sets the field
  std::chrono::seconds jobs{};      // since something last came of them
  std::chrono::seconds findings{};  // since they ended
  std::uint64_t bytes = 0;          // of all that is stored
  std::uint64_t lines = 0;          // of the lines that are kept of one job; 0: none are
};

class Retention {
 public:
  Retention(Store& store, LiveJobs& jobs, Metrics& metrics, RetentionSettings settings)
      : store_(store), jobs_(jobs), metrics_(metrics), settings_(std::move(settings)) {}

  // May be called from any thread; the next apply() uses these settings.
  void set(RetentionSettings settings);

  // Deletes what is due, but only from time to time; other calls cost nothing.
  void apply(SteadyTime now);

 private:
  void drop_old_lines(const RetentionSettings& settings);
  void forget_old_jobs(const RetentionSettings& settings, Timestamp now);
  void forget_jobs_for_room(const RetentionSettings& settings, Timestamp now);
  void forget(const StoredJob& job, ForgottenFor why, std::string_view said);
  bool may_go(const StoredJob& job) const;

  Store& store_;
  LiveJobs& jobs_;
  Metrics& metrics_;
  std::mutex mutex_;
  RetentionSettings settings_;  // guarded by mutex_; so is next_
  SteadyTime next_{};
  bool has_told_of_no_room_ = false;
};

}  // namespace faultline
