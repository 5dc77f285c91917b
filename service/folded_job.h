// FoldedJob: the state of a job, and the commits that are on the disk already but wait to be folded
// into it because the state is being read. A writer never waits for a reader: the last reader
// folds.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "rules/state/job_state.h"
#include "service/event_limit.h"
#include "store/store.h"

namespace faultline {

// Calls that the store holds one by one, not yet in a shorter form.
struct UnkeptCalls {
  std::uint64_t calls = 0;
  std::uint64_t batches = 0;
};

// Events that the store holds.
struct HeldEvents {
  std::uint64_t all = 0;
  std::uint64_t superseded = 0;  // roughly: of those, what no answer needs any more
  std::uint64_t dropped = 0;     // since the job was read: not held any more
};

constexpr std::uint64_t kBytesOfEvent = 1000;  // roughly, as it is stored

// Whether it is worth it to read all events of a job and to drop those that are not needed.
// `spared`: of the superseded ones, what the last time found to be needed all the same.
// `most_events`: the limit of the job.
bool is_worth_dropping(const HeldEvents& held, std::uint64_t spared, std::uint64_t shorten_after,
                       std::uint64_t most_events);

// What a job may hold.
struct JobLimits {
  std::size_t events = 4'000'000;  // 100,000 that each name another part take up to 360 MB
  // Told apart by host, pid, device and rank: 2 KB or more each.
  std::size_t processes = 262'144;
};

class FoldedJob {
 public:
  // Called once the commit is part of the state, or with the reason why it is not. Must not throw.
  using Done = std::function<void(std::exception_ptr)>;

  explicit FoldedJob(std::string name, JobLimits limits = {})
      : limits_(limits), state_(std::move(name)), event_limit_(limits.events) {}

  const std::string& name() const { return state_.name(); }

  // About how much memory the state takes. Needs no lock.
  std::uint64_t weight() const { return weight_; }

  // Takes out of the batch what is over the limits of the job. Call it before the commit is stored.
  void limit(Batch& batch) const { event_limit_.take_out_what_is_over(batch); }

  // Commits are folded in the order in which this is called, by fold_queued(). `done` runs on its
  // thread or on that of a reader. Returns whether no other commit waits.
  bool queue(std::shared_ptr<const Commit> commit, Done done);
  // Does nothing if the state is in use: the one who uses it folds afterwards.
  void fold_queued();
  // Folds what waits now; returns whether more has come since.
  bool fold_once();
  void fold(std::shared_ptr<const Commit> commit, Done done) {
    queue(std::move(commit), std::move(done));
    fold_queued();
  }
  void fold(const StoredBatch& stored);

  // Like JobState::take_packed_calls: call it before any batch is folded.
  Result<void> take_calls(std::string_view packed);
  // Ask it when all is folded.
  bool has_sources_of_calls() const { return state_.has_sources_of_calls(); }

  // The store now keeps the calls that `were` counts in a shorter form.
  void calls_were_kept(const UnkeptCalls& were);

  // The store has dropped these events, which were not needed.
  void events_were_dropped(const std::vector<Event>& events);

  // How often either was called. Needs no lock.
  std::uint64_t times_shortened() const { return times_shortened_; }

  // The state as it stands while this lives. A thread has one of a job at a time.
  class Reading {
   public:
    explicit Reading(FoldedJob& job);
    ~Reading();
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

    const JobState& state() const { return job_.state_; }
    const JobState* operator->() const { return &job_.state_; }
    std::uint64_t version() const { return job_.version_; }  // how many batches are folded
    std::optional<Timestamp> first_received() const { return job_.first_received_; }
    std::uint64_t bytes() const { return job_.bytes_; }  // of logs
    // Whether all commits are part of the state.
    bool is_whole() const { return job_.is_whole_; }
    std::int64_t last_batch() const { return job_.last_batch_; }  // its number in the store
    // Calls that the store does not keep in a shorter form yet.
    const UnkeptCalls& unkept() const { return job_.unkept_; }
    HeldEvents events() const;

   private:
    FoldedJob& job_;
    std::shared_lock<std::shared_mutex> lock_;
  };

 private:
  struct Waiting {
    std::shared_ptr<const Commit> commit;
    Done done;
    std::exception_ptr failure;
  };

  void apply(std::int64_t number, const Source& source, const Batch& batch, Timestamp received,
             CallsAre calls);
  bool something_waits();
  void fold_what_waits(std::unique_lock<std::shared_mutex> lock);

  const JobLimits limits_;
  std::shared_mutex mutex_;  // guards the state; never held while waiting for the disk
  JobState state_;
  std::uint64_t version_ = 0;
  std::optional<Timestamp> first_received_;
  EventLimit event_limit_;
  std::unordered_set<std::uint64_t> speakers_;  // hashes
  std::uint64_t bytes_ = 0;
  std::atomic<std::uint64_t> weight_ = 0;
  std::atomic<std::uint64_t> times_shortened_ = 0;
  std::int64_t last_batch_ = 0;
  bool is_whole_ = true;
  UnkeptCalls unkept_;
  std::uint64_t events_ = 0;   // that the store holds
  std::uint64_t dropped_ = 0;  // of those that are folded

  std::mutex waiting_mutex_;
  std::vector<Waiting> waiting_;
};

}  // namespace faultline
