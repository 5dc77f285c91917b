// LiveJobs: a job's lines are read again.
#include <thread>

#include "service/asked_lines.h"
#include "service/live_job.h"
#include "service/live_jobs.h"

namespace faultline {

// What is in memory goes on without it until the job is read anew from the store.
std::optional<ReanalysisTold> LiveJobs::reanalyze(const std::string& name) {
  ReanalysisTold told;
  {
    const std::lock_guard lock(rewriting_mutex_);
    const std::shared_ptr<Job> job = find(name);
    if (!job || !why_set_aside(*job).empty()) return std::nullopt;
    told = faultline::reanalyze(store_, name, std::make_shared<const AskedLines>(catalog_),
                                [&job] { return !job->is_forgotten; });
    const std::lock_guard aside(job->set_aside_mutex);
    job->read_anew_at = steady_now();
  }
  // Others may have it for a moment; who has it for longer leaves it to the housekeeping.
  constexpr int kTries = 50;
  for (int i = 0; i < kTries && !rest(name); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return told;
}

}  // namespace faultline
