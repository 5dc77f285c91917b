// LargeReading: while a job is read from the store, sees whether there is memory for it.
#pragma once

#include <cstdint>
#include <mutex>

#include "service/clock.h"
#include "service/live_jobs.h"

namespace faultline {

// While memory is tight, one large job is read at a time: two that are read at once could both find
// that there is too little.
class LiveJobs::LargeReading {
 public:
  LargeReading(LiveJobs& jobs, Job& job)
      : jobs_(jobs), job_(job), turn_(jobs.large_job_mutex_, std::defer_lock) {}
  ~LargeReading();
  LargeReading(const LargeReading&) = delete;
  LargeReading& operator=(const LargeReading&) = delete;

  // Call it while the state that was read so far has this weight. Throws LacksMemory.
  void expect(std::uint64_t weight);

 private:
  static constexpr std::chrono::seconds kLeastWait{1};
  static constexpr std::chrono::seconds kMostWait{60};
  static constexpr std::chrono::milliseconds kBetweenAttempts{100};

  [[noreturn]] void give_up(SteadyTime::duration wait);

  LiveJobs& jobs_;
  Job& job_;
  const SteadyTime begun_ = steady_now();
  std::uint64_t looked_at_ = 0;  // weight
  SteadyTime relieved_at_;
  bool has_given_up_ = false;
  std::unique_lock<std::mutex> turn_;
};

}  // namespace faultline
