// LiveJobs: shortens what is stored of long jobs.
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "model/independent_steps.h"
#include "service/live_job.h"
#include "service/live_jobs.h"

namespace faultline {
namespace {

// Rough sizes of a stored call, of a batch, and of an event.
constexpr std::uint64_t kBytesOfCall = 2;
constexpr std::uint64_t kBytesOfBatch = 250;
constexpr std::uint64_t kBytesOfEvent = 1000;
// The packed result is written anew each time, so only when the calls that it replaces are larger
// than it by this factor.
constexpr std::uint64_t kTimesWhatIsKept = 2;
// So many are dropped at once: all other writes wait meanwhile.
constexpr std::size_t kEventsAtOnce = 1000;

}  // namespace

bool LiveJobs::has_calls_to_pack(Job& job) const {
  if (job.kept_bytes > Store::kMostKeptCallsBytes) return false;
  const UnkeptCalls unkept = job.read().unkept();
  if (unkept.calls == 0) return false;
  return unkept.calls * kBytesOfCall + unkept.batches * kBytesOfBatch >=
         std::max(settings_.shorten_after, kTimesWhatIsKept * job.kept_bytes);
}

// All that are left are read for it, so only when those that go are as many.
bool LiveJobs::has_events_to_drop(Job& job) const {
  const HeldEvents events = job.read().events();
  if (events.superseded <= job.spared_events) return false;
  const std::uint64_t left = events.all - std::min(events.all, events.superseded);
  return (events.superseded - job.spared_events) * kBytesOfEvent >=
         std::max(settings_.shorten_after, left * kBytesOfEvent);
}

// Whatever part of this is done when the power fails: a state that is folded without some of the
// events that are not needed is the same state.
void LiveJobs::drop_events(Job& job) {
  std::int64_t through = 0;
  {
    const FoldedJob::Reading state = job.read();
    if (!state.is_whole()) return;
    through = state.last_batch();
  }
  std::vector<EventsOfBatch> events;
  std::size_t waiting = 0;
  const auto drop = [&] {
    store_.drop_events(events, [&job] { return !job.is_forgotten; });
    if (!job.is_forgotten) job.folded->events_were_dropped(waiting);
    events.clear();
    waiting = 0;
  };
  const auto look_at = [&](const StoredBatch& stored) {
    if (is_stopping()) throw std::runtime_error("the server is stopping");
    if (stored.number > through) return;  // it may not be folded yet
    EventsOfBatch of_batch{.batch = stored.number, .places = {}};
    {
      const FoldedJob::Reading state = job.read();
      for (const Event& event : stored.batch.events)
        if (!state->needs(stored.source, stored.batch, event))
          of_batch.places.push_back(event.order);
    }
    if (of_batch.places.empty()) return;
    waiting += of_batch.places.size();
    events.push_back(std::move(of_batch));
    if (waiting >= kEventsAtOnce) drop();
  };
  try {
    store_.replay(job.name, [](std::string_view /*packed*/) {}, look_at);
  } catch (...) {
    if (is_stopping()) return;  // the next server goes on
    throw;
  }
  if (waiting > 0) drop();
  job.spared_events = job.read().events().superseded;
}

// The caller holds the job, so that nobody reads it from the store while its batches become fewer.
void LiveJobs::shorten(Job& job) {
  if (!job.is_read || !why_set_aside(job).empty()) return;
  const bool drops = has_events_to_drop(job);
  // Batches without events are joined when the calls are packed. A result that is larger than what
  // is dropped is not written anew for that.
  const bool joins = drops && job.kept_bytes <= std::min<std::uint64_t>(
                                                    Store::kMostKeptCallsBytes,
                                                    job.read().events().superseded * kBytesOfEvent);
  const bool packs = joins || has_calls_to_pack(job);
  if (!drops && !packs) return;
  if (drops) drop_events(job);
  if (packs && !is_stopping()) pack_calls(job);
  metrics_.count_shortened_job();
}

void LiveJobs::pack_calls(Job& job) {
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
  for (const std::shared_ptr<Job>& job : all()) steps.run([&] { shorten(*job); });
  steps.end();
  is_shortening_left_ = false;
}

}  // namespace faultline
