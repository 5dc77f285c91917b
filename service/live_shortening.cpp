// LiveJobs: shortens what is stored of long jobs.
#include <algorithm>
#include <vector>

#include "model/independent_steps.h"
#include "service/live_job.h"
#include "service/live_jobs.h"

namespace faultline {
namespace {

// Rough sizes of a stored call and of a stored batch.
constexpr std::uint64_t kBytesOfCall = 2;
constexpr std::uint64_t kBytesOfBatch = 250;
// The packed result is written anew each time, so only when the calls that it replaces are larger
// than it by this factor.
constexpr std::uint64_t kTimesWhatIsKept = 2;

}  // namespace

bool LiveJobs::is_to_be_shortened(Job& job) const {
  if (!job.is_read || job.kept_bytes > Store::kMostKeptCallsBytes || !why_set_aside(job).empty())
    return false;
  const UnkeptCalls unkept = job.read().unkept();
  if (unkept.calls == 0) return false;
  return unkept.calls * kBytesOfCall + unkept.batches * kBytesOfBatch >=
         std::max(settings_.shorten_after, kTimesWhatIsKept * job.kept_bytes);
}

// The caller holds the job, so that nobody reads it from the store while its batches become fewer.
void LiveJobs::shorten(Job& job) {
  std::string packed;
  std::int64_t through = 0;
  UnkeptCalls unkept;
  {
    const FoldedJob::Reading state = job.read();
    if (!state.is_whole()) return;
    packed = state->packed_calls();
    through = state.last_batch();
    unkept = state.unkept();
  }
  job.kept_bytes = packed.size();
  if (packed.size() > Store::kMostKeptCallsBytes) return;
  store_.keep_calls(job.name, through, packed, [&job] { return !job.is_forgotten; });
  job.folded->calls_were_kept(unkept);
  store_.drop_kept_calls(job.name, stop_);
  metrics_.count_shortened_job();
}

// Drops the calls whose result is stored already, but which an earlier run, or this one for want of
// room, did not drop.
void LiveJobs::go_on_shortening() {
  IndependentSteps steps;
  for (const std::string& name : store_.jobs_with_kept_calls_to_drop())
    steps.run([&] {
      if (const std::shared_ptr<Job> job = find(name); job && why_set_aside(*job).empty())
        store_.drop_kept_calls(name, stop_);
    });
  steps.end();
}

void LiveJobs::shorten_stored() {
  if (!store_.has_room()) return;
  const std::lock_guard lock(rewriting_mutex_);
  IndependentSteps steps;
  if (is_shortening_left_) steps.run([&] { go_on_shortening(); });
  is_shortening_left_ = true;  // in case a step fails
  for (const std::shared_ptr<Job>& job : all())
    if (is_to_be_shortened(*job)) steps.run([&] { shorten(*job); });
  steps.end();
  is_shortening_left_ = false;
}

}  // namespace faultline
