// LiveJobs: what is stored of long jobs is shortened.
#include <algorithm>
#include <vector>

#include "service/live_job.h"
#include "service/live_jobs.h"

namespace faultline {
namespace {

// As calls and batches are stored, roughly.
constexpr std::uint64_t kBytesOfCall = 2;
constexpr std::uint64_t kBytesOfBatch = 250;
// Fewer are as soon read as what they came to.
constexpr std::uint64_t kWorthwhile = 4 << 20;
// What calls came to is written anew each time: not before what it replaces is larger.
constexpr std::uint64_t kTimesWhatIsKept = 2;

}  // namespace

bool LiveJobs::is_to_be_shortened(Job& job) {
  if (!job.is_read || !why_set_aside(job).empty()) return false;
  const UnkeptCalls unkept = job.read().unkept();
  if (unkept.calls == 0) return false;
  return unkept.calls * kBytesOfCall + unkept.batches * kBytesOfBatch >=
         std::max<std::uint64_t>(kWorthwhile, kTimesWhatIsKept * job.kept_bytes);
}

// Held meanwhile, so that nobody reads it from the store while its batches become fewer.
void LiveJobs::shorten(Job& job) {
  std::string packed;
  std::int64_t through = 0;
  UnkeptCalls unkept;
  {
    const FoldedJob::Reading state = job.read();
    packed = state->packed_calls();
    through = state.last_batch();
    unkept = state.unkept();
  }
  if (job.is_forgotten || !why_set_aside(job).empty()) return;
  job.kept_bytes = packed.size();
  store_.keep_calls(job.name, through, packed);
  job.folded->calls_were_kept(unkept);
  store_.drop_kept_calls(job.name, stop_);
  metrics_.count_shortened_job();
}

void LiveJobs::shorten_stored() {
  for (const std::shared_ptr<Job>& job : all())
    if (is_to_be_shortened(*job)) shorten(*job);
}

}  // namespace faultline
