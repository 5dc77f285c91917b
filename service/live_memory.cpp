// LiveJobs: keeps all jobs together within the memory that they may take. Jobs rest for it, those
// first that nobody has asked for or sent to for longest. If that does not suffice, large jobs wait
// until they may be read, or may get more lines; small ones never do.
#include "service/live_memory.h"

#include <malloc.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "service/live_job.h"

namespace faultline {

bool LiveJobs::is_large(const Job& job) const {
  return job.is_read && !memory_.is_small(job.folded->weight());
}

bool LiveJobs::lacks_memory(const Job& job) const {
  if (!job.is_read) return steady_now() < job.lacks_until.load();
  return is_large(job) && memory_.is_exceeded();
}

std::size_t LiveJobs::count_lacking_memory() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      all(), [this](const std::shared_ptr<Job>& job) { return lacks_memory(*job); }));
}

// Never waits for somebody who uses a job: who asks for memory may hold what that one waits for.
bool LiveJobs::relieve_memory() {
  if (!memory_.is_exceeded()) return true;
  const std::unique_lock lock(relieving_mutex_, std::try_to_lock);
  if (!lock) return false;
  malloc_trim(0);
  if (!memory_.is_exceeded()) return true;
  memory_.note_lack();

  struct Candidate {
    bool is_small;
    SteadyTime asked_at;
    std::string name;
    std::uint64_t weight;
  };
  std::vector<Candidate> candidates;
  const SteadyTime now = steady_now();
  for (const std::shared_ptr<Job>& job : all()) {
    if (!job->is_read) continue;
    const SteadyTime asked_at = job->asked_at;
    // Reading small jobs again and again costs more than they take.
    if (is_large(*job) || now - asked_at >= kShortPatience)
      candidates.push_back({!is_large(*job), asked_at, job->name, job->folded->weight()});
  }
  std::ranges::sort(candidates, {}, [](const Candidate& candidate) {
    return std::pair(candidate.is_small, candidate.asked_at);
  });
  std::uint64_t excess = memory_.excess();
  std::uint64_t freed = 0;  // since that was measured
  for (const auto way : {&LiveJobs::rest_for_memory, &LiveJobs::put_back}) {
    for (const Candidate& candidate : candidates) {
      if (excess == 0) break;
      if (!(this->*way)(candidate.name)) continue;
      metrics_.count_rested_for_memory();
      freed += candidate.weight;
      if (candidate.is_small && freed < excess) continue;
      malloc_trim(0);
      excess = memory_.excess();
      freed = 0;
    }
  }
  if (freed > 0) malloc_trim(0);
  return !memory_.is_exceeded();
}

// What is judged of it because of the time waits longer, so that jobs do not take turns in memory
// only for that.
bool LiveJobs::rest_for_memory(const std::string& name) {
  std::shared_ptr<Job> job = known(name);
  if (!job || job.use_count() != kOwnersOfUnused) return false;
  if (!may_rest_for_memory(*job)) return false;
  const std::shared_ptr<Sketch> sketch = sketched(*job);
  if (!sketch) return false;
  if (sketch->judge_at)
    sketch->judge_at =
        std::max(*sketch->judge_at, steady_now() + kOneInOfReading * job->read_in.load());
  return put_to_rest(std::move(job), sketch);
}

// One that is not judged: it is read and judged later. It may have been read only for what it knows
// of another job's hosts.
bool LiveJobs::put_back(const std::string& name) {
  std::shared_ptr<Job> job = known(name);
  if (!job || job.use_count() != kOwnersOfUnused || !job->is_read || !why_set_aside(*job).empty())
    return false;
  std::shared_ptr<const Sketch> sketch = job->sketch;
  if (sketch && sketch->version != job->read().version()) sketch.reset();
  if (!put_to_rest(std::move(job), std::move(sketch))) return false;
  reconcile_later(name);
  return true;
}

LiveJobs::LargeReading::~LargeReading() {
  if (has_given_up_) malloc_trim(0);  // of what was read in vain
}

void LiveJobs::LargeReading::expect(std::uint64_t weight) {
  constexpr std::uint64_t kLooks = 1024;  // at most, because each asks the system
  if (weight < looked_at_ + jobs_.memory_.most() / kLooks || jobs_.memory_.is_small(weight)) return;
  looked_at_ = weight;
  if (!turn_ && jobs_.memory_.is_tight() && !turn_.try_lock()) give_up(kLeastWait);
  const SteadyTime now = steady_now();
  const bool is_too_much = jobs_.memory_.is_far_exceeded();
  if (!is_too_much && (!jobs_.memory_.is_exceeded() || now - relieved_at_ < kBetweenAttempts))
    return;
  relieved_at_ = now;
  jobs_.relieve_memory();
  if (!jobs_.memory_.is_far_exceeded()) return;
  constexpr int kOneIn = 5;
  give_up(std::clamp<SteadyTime::duration>((now - begun_) * kOneIn, kLeastWait, kMostWait));
}

void LiveJobs::LargeReading::give_up(SteadyTime::duration wait) {
  has_given_up_ = true;
  jobs_.memory_.note_lack();
  job_.lacks_until = steady_now() + wait;
  throw LacksMemory(std::chrono::ceil<std::chrono::seconds>(wait));
}

}  // namespace faultline
