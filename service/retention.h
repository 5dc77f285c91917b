// Retention: what is old goes, so that a server that is left running does not fill its disk.
//
// A job goes whole. What was found in it stays, evidence lines and all, for as long as findings are
// kept: the history of a host is longer than the logs of its jobs.
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

// 0: no limit. What is not said is as for all.
struct KeptJobs {
  std::string jobs;  // of whose names; '*' stands for any characters
  std::optional<std::chrono::seconds> age = {};
  std::optional<std::uint64_t> lines = {};  // bytes of them; 0: none are kept
};

struct RetentionSettings {
  std::vector<KeptJobs> of_some;    // the first that fits a job's name, and says it, counts
  std::chrono::seconds jobs{};      // since something came of them
  std::chrono::seconds findings{};  // since they ended
  std::uint64_t bytes = 0;          // of all that is stored
  std::uint64_t lines = 0;          // of the lines that are kept of a job; 0: none are
};

class Retention {
 public:
  Retention(Store& store, LiveJobs& jobs, Metrics& metrics, RetentionSettings settings)
      : store_(store), jobs_(jobs), metrics_(metrics), settings_(std::move(settings)) {}

  // From any thread; what is due next is done by them.
  void set(RetentionSettings settings);

  // Does what is due, now and then; otherwise it costs nothing.
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
