#include "service/folded_job.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <stdexcept>

#include "model/event_weight.h"

namespace faultline {
namespace {

std::uint64_t hash_of(const Speaker& speaker) {
  const std::int64_t numbers[] = {speaker.pid, speaker.device, speaker.rank};
  return XXH3_64bits_withSeed(numbers, sizeof numbers,
                              XXH3_64bits(speaker.host.data(), speaker.host.size()));
}

// Estimates, by the floods of docs/reliability.md. Calls count nothing: what is kept of them hardly
// grows with the length of the logs.
constexpr std::uint64_t kOfSpeaker = 2048;

std::uint64_t weight_of_all(const std::vector<Event>& events) {
  constexpr std::uint64_t kOfEvent = 1024;
  constexpr std::uint64_t kOfItsText = 256;  // of a unit of weight_of()
  std::uint64_t weight = kOfEvent * events.size();
  for (const Event& event : events) weight += kOfItsText * weight_of(event);
  return weight;
}

}  // namespace

// A pass costs as much as there are events that stay. So the superseded ones must be as many, or a
// part of the limit: a job that needs very many events would otherwise reach the limit before.
bool is_worth_dropping(const HeldEvents& held, std::uint64_t spared, std::uint64_t shorten_after,
                       std::uint64_t most_events) {
  const std::uint64_t fresh =
      std::min(held.all, held.superseded - std::min(held.superseded, spared));
  if (fresh == 0) return false;
  const std::uint64_t left = held.all - fresh;
  return fresh * kBytesOfEvent >= std::max(shorten_after, left * kBytesOfEvent) ||
         (fresh >= most_events / 16 && held.all >= most_events / 4);
}

bool FoldedJob::queue(std::shared_ptr<const Commit> commit, Done done) {
  const std::lock_guard lock(waiting_mutex_);
  waiting_.push_back({std::move(commit), std::move(done), nullptr});
  return waiting_.size() == 1;
}

void FoldedJob::fold(const StoredBatch& stored) {
  const std::unique_lock lock(mutex_);
  apply(stored.number, stored.source, stored.batch, stored.received,
        stored.calls_are_kept ? CallsAre::counted : CallsAre::new_ones);
}

Result<void> FoldedJob::take_calls(std::string_view packed) {
  const std::unique_lock lock(mutex_);
  return state_.take_packed_calls(packed);
}

void FoldedJob::calls_were_kept(const UnkeptCalls& were) {
  {
    const std::unique_lock lock(mutex_);
    unkept_.calls -= were.calls;
    unkept_.batches -= were.batches;
  }
  ++times_shortened_;
  fold_queued();  // a commit may have found it locked
}

void FoldedJob::events_were_dropped(const std::vector<Event>& events) {
  event_limit_.forget(events);
  const std::uint64_t weight = weight_of_all(events);
  {
    const std::unique_lock lock(mutex_);
    events_ -= std::min<std::uint64_t>(events_, events.size());
    dropped_ += events.size();
    weight_ -= std::min<std::uint64_t>(weight_, weight);
  }
  ++times_shortened_;
  fold_queued();  // a commit may have found it locked
}

void FoldedJob::apply(std::int64_t number, const Source& source, const Batch& batch,
                      Timestamp received, CallsAre calls) {
  event_limit_.count(batch);
  events_ += batch.events.size();
  bytes_ += batch.to_offset - batch.from_offset;
  const std::size_t before = speakers_.size();
  for (const Speaker& speaker : batch.speakers) speakers_.insert(hash_of(speaker));
  weight_ += kOfSpeaker * (speakers_.size() - before) + weight_of_all(batch.events);
  if (speakers_.size() > limits_.processes)
    throw std::length_error(fmt::format("the job has more than {} processes, the limit for one job",
                                        limits_.processes));
  state_.apply(source, batch, received, calls);
  last_batch_ = number;
  if (calls == CallsAre::new_ones) {
    unkept_.calls += batch.facts() - batch.events.size();
    ++unkept_.batches;
  }
  first_received_ = std::min(first_received_.value_or(received), received);
  ++version_;
}

bool FoldedJob::something_waits() {
  const std::lock_guard lock(waiting_mutex_);
  return !waiting_.empty();
}

// Takes the waiting commits while the state is locked, so that their order is kept.
void FoldedJob::fold_what_waits(std::unique_lock<std::shared_mutex> lock) {
  std::vector<Waiting> waiting;
  {
    const std::lock_guard waiting_lock(waiting_mutex_);
    waiting.swap(waiting_);
  }
  for (Waiting& one : waiting) {
    try {
      apply(one.commit->number, one.commit->source, one.commit->batch, one.commit->received,
            CallsAre::new_ones);
    } catch (...) {
      one.failure = std::current_exception();
      is_whole_ = false;
    }
  }
  lock.unlock();
  for (Waiting& one : waiting) {
    one.commit.reset();
    one.done(one.failure);
  }
}

// Every reader calls this when it gives the state back, so that nothing is left waiting.
void FoldedJob::fold_queued() {
  while (fold_once()) continue;
}

bool FoldedJob::fold_once() {
  if (!something_waits()) return false;
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return false;  // who has the state folds
  fold_what_waits(std::move(lock));
  return something_waits();
}

FoldedJob::Reading::Reading(FoldedJob& job) : job_(job) {
  // Readers that follow each other closely must not keep writers out.
  if (job.something_waits()) job.fold_what_waits(std::unique_lock(job.mutex_));
  lock_ = std::shared_lock(job.mutex_);
}

HeldEvents FoldedJob::Reading::events() const {
  const std::uint64_t superseded = job_.state_.parts().superseded();
  return {.all = job_.events_,
          .superseded = superseded - std::min(superseded, job_.dropped_),
          .dropped = job_.dropped_};
}

FoldedJob::Reading::~Reading() {
  lock_.unlock();
  job_.fold_queued();
}

}  // namespace faultline
