// LiveJobs: a job's lines are read again.
#include <memory>
#include <mutex>
#include <thread>

#include "service/asked_lines.h"
#include "service/live_job.h"
#include "service/live_jobs.h"

namespace faultline {

// The job in memory stays as it is until it is read anew from the store.
LiveJobs::Reanalyzed LiveJobs::reanalyze(const std::string& name) {
  Reanalyzed done;
  {
    // One at a time: each keeps a thread for as long as it takes.
    const std::unique_lock lock(rewriting_mutex_, std::try_to_lock);
    if (!lock) return {.is_busy = true};
    if (known(name) && marks_.try_again(name)) renew(name);
    const std::shared_ptr<Job> job = find(name);
    if (!job || !why_set_aside(*job).empty()) return done;
    // Also if it fails halfway: some of the changes may be stored.
    const auto read_anew = [](Job* changed) {
      const std::lock_guard aside(changed->set_aside_mutex);
      changed->read_anew_at = steady_now();
    };
    const std::unique_ptr<Job, decltype(read_anew)> at_end(job.get(), read_anew);
    done.told = faultline::reanalyze(store_, name, std::make_shared<const AskedLines>(catalog_),
                                     [this, &job] { return !job->is_forgotten && !is_stopping(); });
  }
  // Another thread may hold the job for a moment. If it holds it for longer, reconcile_open() reads
  // the job anew.
  constexpr int kTries = 50;
  for (int i = 0; i < kTries && !rest(name); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return done;
}

}  // namespace faultline
