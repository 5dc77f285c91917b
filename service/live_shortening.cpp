// LiveJobs: shortens what is stored of long jobs.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "model/independent_steps.h"
#include "service/live_job.h"
#include "service/live_jobs.h"
#include "service/memory_budget.h"

namespace faultline {
namespace {

// Rough sizes of a stored call and of a batch.
constexpr std::uint64_t kBytesOfCall = 2;
constexpr std::uint64_t kBytesOfBatch = 250;
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

bool LiveJobs::has_events_to_drop(Job& job) const {
  return is_worth_dropping(job.read().events(), job.spared_events, settings_.shorten_after,
                           settings_.limits.events);
}

// Whatever part of this is done when the power fails: a state that is folded without some of the
// events that are not needed is the same state.
void LiveJobs::drop_events(Job& job) {
  std::int64_t through = 0;
  std::uint64_t superseded = 0;
  {
    const FoldedJob::Reading state = job.read();
    if (!state.is_whole()) return;
    through = state.last_batch();
    superseded = state.events().superseded;
  }
  std::uint64_t dropped = 0;
  std::vector<EventsOfBatch> places;
  std::vector<Event> events;  // the same ones
  const auto expect_to_go_on = [this] {
    if (is_stopping()) throw std::runtime_error("the server is stopping");
  };
  const auto drop = [&] {
    expect_to_go_on();
    store_.drop_events(places, [&job] { return !job.is_forgotten; });
    if (!job.is_forgotten) {
      job.folded->events_were_dropped(events);
      dropped += events.size();
    }
    places.clear();
    events.clear();
  };
  const auto look_at = [&](const StoredBatch& stored) {
    expect_to_go_on();
    if (stored.number > through) return;  // it may not be folded yet
    std::vector<const Event*> superfluous;
    {
      const FoldedJob::Reading state = job.read();
      for (const Event& event : stored.batch.events)
        if (!state->needs(stored.source, stored.batch, event)) superfluous.push_back(&event);
    }
    for (const Event* event : superfluous) {
      if (places.empty() || places.back().batch != stored.number)
        places.push_back({.batch = stored.number, .places = {}});
      places.back().places.push_back(event->order);
      events.push_back(*event);
      if (events.size() >= kEventsAtOnce) drop();
    }
  };
  try {
    store_.replay(job.name, [](std::string_view /*packed*/) {}, look_at);
    if (!events.empty()) drop();
  } catch (...) {
    if (is_stopping()) return;  // the next server goes on
    throw;
  }
  // What came during the pass was not looked at, so it is not spared.
  job.spared_events = superseded - std::min(superseded, dropped);
}

// The caller holds the job, so that nobody reads it from the store while its batches become fewer.
// After a reanalysis the state in memory is out of date and cannot tell what is needed.
void LiveJobs::shorten(Job& job) {
  if (!job.is_read || is_to_be_read_anew(job) || !why_set_aside(job).empty()) return;
  const std::uint64_t before = job.folded->times_shortened();
  bool packs = has_calls_to_pack(job);
  if (has_events_to_drop(job)) {
    const std::uint64_t held = job.read().events().dropped;
    drop_events(job);
    const std::uint64_t dropped = job.read().events().dropped - held;
    // Batches without events are joined when the calls are packed. A result that is larger than
    // what was dropped is not written anew for that.
    packs |= dropped > 0 && job.kept_bytes <= std::min<std::uint64_t>(Store::kMostKeptCallsBytes,
                                                                      dropped * kBytesOfEvent);
  }
  if (packs && !is_stopping()) pack_calls(job);
  if (job.folded->times_shortened() != before) metrics_.count_shortened_job();
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
      try {
        if (const std::shared_ptr<Job> job = find(name); job && why_set_aside(*job).empty())
          store_.drop_kept_calls(name, stop_);
      } catch (const LacksMemory&) {
        is_shortening_left_ = true;  // another time
      }
    });
  steps.end();
}

void LiveJobs::shorten_stored() {
  if (!store_.has_room()) return;
  const std::lock_guard lock(rewriting_mutex_);
  IndependentSteps steps;
  if (std::exchange(is_shortening_left_, false)) steps.run([&] { go_on_shortening(); });
  // Holds only the job that is worked on: one that is held cannot rest, and this takes long. One
  // that came to rest just before it was held is left: another thread may read it from the store.
  for (const std::weak_ptr<Job>& one : all_loosely())
    if (const std::shared_ptr<Job> job = one.lock(); job && known(job->name) == job)
      steps.run([&] { shorten(*job); });
  try {
    steps.end();
  } catch (...) {
    is_shortening_left_ = true;
    throw;
  }
}

}  // namespace faultline
