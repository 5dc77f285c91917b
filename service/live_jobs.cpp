#include "service/live_jobs.h"

#include <fmt/format.h>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "logging/log.h"
#include "service/clock.h"
#include "service/live_job.h"
#include "service/live_memory.h"

namespace faultline {
namespace {

constexpr std::chrono::seconds kReadAnewAfter{5};
// A batch with more is folded on a thread of its own: the store's thread writes for all jobs.
constexpr std::size_t kEventsFoldedAtOnce = 256;

}  // namespace

LiveJobs::LiveJobs(Store& store, const LiveCatalog& catalog, Metrics& metrics,
                   LiveSettings settings)
    : store_(store),
      catalog_(catalog),
      metrics_(metrics),
      settings_(std::move(settings)),
      memory_(settings_.memory, settings_.memory_used),
      marks_(settings_.marks),
      open_sources_(settings_.stall_after),
      patience_(settings_.rest_after) {}

LiveJobs::~LiveJobs() { folding_.join(); }

void LiveJobs::finish() {
  store_.drain();
  folding_.join();
}

// The server is ready before any job is read: a job is read when somebody asks for it, or in its
// turn. The last run may have committed lines that it did not judge any more.
void LiveJobs::start(const std::atomic<bool>& stop) {
  std::vector<StoredJob> stored = store_.jobs();
  {
    const std::unique_lock lock(mutex_);
    for (const StoredJob& job : stored) jobs_.emplace(job.name, std::make_shared<Job>(job.name));
    stop_ = &stop;
  }
  marks_.read_others_first();
  ready_ = true;
  say(LogLevel::info, "ready", "ready for requests", {{"jobs", fmt::to_string(stored.size())}});
  store_.finish_deleting();
  std::ranges::stable_sort(stored, std::ranges::greater(), &StoredJob::last_received);
  // Those of which the last process may have died come last: by then the others are served.
  std::ranges::stable_partition(
      stored, [&](const StoredJob& job) { return !marks_.is_suspected(job.name); });
  for (const StoredJob& job : stored) {
    if (stop) break;
    if (marks_.is_suspected(job.name)) marks_.others_are_read();
    judge_at_start(job.name);
  }
  marks_.others_are_read();
}

void LiveJobs::wake(Job& job) {
  if (job.is_read) return;
  const std::lock_guard lock(job.reading_mutex);
  if (job.is_read) return;
  if (marks_.is_set_aside(job.name)) return wake_set_aside(job);
  const SteadyTime begun = steady_now();
  if (const auto wait = job.lacks_until.load() - begun; wait > SteadyTime::duration::zero())
    throw LacksMemory(std::chrono::ceil<std::chrono::seconds>(wait));
  LargeReading reading(*this, job);
  auto folded = std::make_unique<FoldedJob>(job.name, settings_.limits);
  std::string lack;
  bool may_be_better = true;
  std::optional<ReadingMarks::Mark> mark(std::in_place, marks_, job.name);
  const std::vector<DamagedSource> damaged = store_.replay(
      job.name,
      [&](std::string_view packed) {
        if (const Result<void> taken = folded->take_calls(packed); !taken)
          lack = taken.error().message;
      },
      [&](const StoredBatch& stored) {
        if (stop_ != nullptr && *stop_) throw std::runtime_error("the server is stopping");
        if (!lack.empty()) return;
        try {
          folded->fold(stored);
          reading.expect(folded->weight());
        } catch (const std::length_error& error) {
          lack = error.what();
          may_be_better = false;
        }
      });
  mark.reset();
  if (lack.empty() && !damaged.empty())
    lack = fmt::format("part of what was stored of {} is missing ({})", damaged.front().name,
                       damaged.front().how);
  // Calls of sources that the store did not return must not be shown.
  if (!folded->has_sources_of_calls()) {
    if (lack.empty()) lack = "a source that its stored calls belong to is missing";
    folded = std::make_unique<FoldedJob>(job.name, settings_.limits);
  }
  job.folded = std::move(folded);
  recall_what_was_told(job);
  if (job.sketch) {
    job.suspected_since = job.sketch->suspected_since;
    job.offended = job.sketch->offended;
  }
  if (!lack.empty()) {
    const bool for_now = may_be_better && !damaged.empty() && damaged.front().for_lack_of_memory;
    set_aside(job, std::move(lack), for_now);
    // The failure of the disk may pass, so try again, but spend only a small part of the time on
    // it.
    const SteadyTime now = steady_now();
    if (may_be_better)
      job.read_anew_at =
          now + std::max<SteadyTime::duration>(kReadAnewAfter, (now - begun) * kOneInOfReading);
    else
      marks_.acquit(job.name);
  }
  job.asked_at = steady_now();
  job.read_in = job.asked_at.load() - begun;
  job.is_read = true;
}

void LiveJobs::wake_set_aside(Job& job) {
  job.folded = std::make_unique<FoldedJob>(job.name, settings_.limits);
  set_aside(job, fmt::format("the server died twice while it read or judged this job (curl -X POST "
                             ".../api/v1/jobs/{}/reanalyze has it try again)",
                             job.name));
  job.asked_at = steady_now();
  job.is_read = true;
}

void LiveJobs::set_aside(Job& job, std::string why, bool for_now) {
  const std::lock_guard lock(job.set_aside_mutex);
  if (!job.set_aside.empty()) return;
  job.set_aside = std::move(why);
  job.is_set_aside_for_now = for_now;
  say(LogLevel::error, "job-set-aside", "a job is set aside",
      {{"job", job.name}, {"why", job.set_aside}});
}

std::string LiveJobs::why_set_aside(Job& job) {
  const std::lock_guard lock(job.set_aside_mutex);
  return job.set_aside;
}

std::optional<std::string> LiveJobs::set_aside(std::string_view name) {
  const std::shared_ptr<Job> job = find(name);
  std::string why = job ? why_set_aside(*job) : std::string();
  return why.empty() ? std::nullopt : std::optional(std::move(why));
}

std::optional<LiveJobs::SetAside> LiveJobs::known_as_set_aside(std::string_view name) const {
  const std::shared_ptr<Job> job = known(name);
  if (!job) return std::nullopt;
  if (marks_.waits_for_others(name))
    return SetAside{"the server may have died of it, so it reads the other jobs first", true};
  {
    const std::lock_guard lock(job->set_aside_mutex);
    if (!job->set_aside.empty()) return SetAside{job->set_aside, job->is_set_aside_for_now};
  }
  if (!lacks_memory(*job)) return std::nullopt;
  return SetAside{LacksMemory(std::chrono::seconds{1}).what(), true, true};
}

std::size_t LiveJobs::count_set_aside() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      all(), [](const std::shared_ptr<Job>& job) { return !why_set_aside(*job).empty(); }));
}

bool LiveJobs::is_in_memory(std::string_view name) const {
  const std::shared_ptr<Job> job = known(name);
  return job && job->is_read;
}

std::size_t LiveJobs::count_in_memory() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      all(), [](const std::shared_ptr<Job>& job) { return job->is_read.load(); }));
}

std::map<Verdict, std::size_t> LiveJobs::count_by_verdict() const {
  std::map<Verdict, std::size_t> counts;
  for (const std::shared_ptr<Job>& job : all())
    if (const std::optional<Verdict> verdict = job->verdict) ++counts[*verdict];
  return counts;
}

std::size_t LiveJobs::count_unread() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      all(), [](const std::shared_ptr<Job>& job) { return !job->is_read && !job->sketch; }));
}

// Says nothing about a job that may lack lines, except that.
std::shared_ptr<const Diagnosis> LiveJobs::set_aside_diagnosis(Job& job, const std::string& why) {
  auto diagnosis = std::make_shared<Diagnosis>();
  diagnosis->job = job.name;
  diagnosis->attempt = diagnosis->attempts = 1;
  diagnosis->as_of = job.read()->last_told();
  diagnosis->verdict = Verdict::unknown;
  diagnosis->summary = fmt::format(
      "This job is set aside, and not judged: {}. To have it judged, delete it "
      "(curl -X DELETE .../api/v1/jobs/{}) and send its logs again.",
      why, job.name);
  return diagnosis;
}

// Lines that are sent to the job meanwhile may be deleted with it, or be kept.
bool LiveJobs::forget(const std::string& name, std::optional<Timestamp> unless_after) {
  {
    const std::unique_lock lock(mutex_);
    if (const auto found = jobs_.find(name); found != jobs_.end()) {
      found->second->is_forgotten = true;
      jobs_.erase(found);
    }
  }
  bool forgotten = false;
  bool is_there = true;
  try {
    forgotten = store_.delete_job(name, utc_now(), unless_after);
    is_there = !store_.sources(name).empty();  // as it was, or anew
  } catch (...) {
    renew(name);
    throw;
  }
  if (forgotten) marks_.acquit(name);
  renew(name, is_there);
  if (forgotten) wanted_.forget(name);
  return forgotten;
}

// Somebody may have read the job while it was being deleted, without all that is stored now. So it
// is read again when somebody asks.
void LiveJobs::renew(const std::string& name, bool is_there) {
  const std::unique_lock lock(mutex_);
  std::shared_ptr<Job>& job = jobs_[name];
  if (job) job->is_forgotten = true;
  if (is_there)
    job = std::make_shared<Job>(name);
  else
    jobs_.erase(name);
}

std::shared_ptr<LiveJobs::Job> LiveJobs::known(std::string_view name) const {
  const std::shared_lock lock(mutex_);
  const auto found = jobs_.find(name);
  return found == jobs_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<LiveJobs::Job>> LiveJobs::all() const {
  const std::shared_lock lock(mutex_);
  std::vector<std::shared_ptr<Job>> all;
  all.reserve(jobs_.size());
  for (const auto& entry : jobs_) all.push_back(entry.second);
  return all;
}

std::vector<std::weak_ptr<LiveJobs::Job>> LiveJobs::all_loosely() const {
  const std::vector<std::shared_ptr<Job>> held = all();
  return {held.begin(), held.end()};
}

std::shared_ptr<LiveJobs::Job> LiveJobs::find(std::string_view name) {
  std::shared_ptr<Job> job = known(name);
  if (!job) return nullptr;
  wake(*job);
  // Its first commit is on its way.
  if (job->read().version() == 0 && why_set_aside(*job).empty()) return nullptr;
  job->asked_at = steady_now();
  return job;
}

std::shared_ptr<LiveJobs::Job> LiveJobs::find_or_add(const std::string& name) {
  std::shared_ptr<Job> job = known(name);
  if (!job) {
    add(name);
    return find_or_add(name);
  }
  wake(*job);
  job->asked_at = steady_now();
  return job;
}

void LiveJobs::add(const std::string& name) {
  const std::unique_lock lock(mutex_);
  std::shared_ptr<Job>& job = jobs_[name];
  if (!job) job = std::make_shared<Job>(name);
}

std::shared_ptr<const LiveJobs::Sketch> LiveJobs::sketch_of(const Job& job) const {
  if (job.is_read || !job.sketch || job.sketch->catalog != catalog_.version()) return nullptr;
  return job.sketch;
}

// Counts a commit as under way until it is folded or refused.
class LiveJobs::Underway {
 public:
  Underway(LiveJobs& jobs, const Source& source) : jobs_(jobs), source_(source.job, source.name) {
    const std::lock_guard lock(jobs_.on_its_way_mutex_);
    ++jobs_.on_its_way_[source_];
    ++jobs_.commits_in_flight_;
  }
  ~Underway() {
    leave();
    end();
  }
  Underway(const Underway&) = delete;
  Underway& operator=(const Underway&) = delete;

  // It is on the disk, or never will be.
  void leave() {
    if (std::exchange(has_left_, true)) return;
    const std::lock_guard lock(jobs_.on_its_way_mutex_);
    const auto entry = jobs_.on_its_way_.find(source_);
    if (--entry->second == 0) jobs_.on_its_way_.erase(entry);
  }

  void end() {
    if (!std::exchange(has_ended_, true)) --jobs_.commits_in_flight_;
  }

 private:
  LiveJobs& jobs_;
  std::pair<std::string, std::string> source_;  // job and name
  bool has_left_ = false;
  bool has_ended_ = false;
};

void LiveJobs::commit(Commit commit, std::function<void(std::exception_ptr)> done) {
  // Reads the job first: if it were read later, it might already include this commit, which would
  // then be folded a second time. A job that somebody holds stays in memory. A server that ends
  // reads no more jobs: the next one finds the commit on the disk.
  std::shared_ptr<Job> job = is_stopping() ? known(commit.source.job) : nullptr;
  const bool is_for_next_server = job && !job->is_read;
  if (!is_for_next_server) {
    try {
      job = find_or_add(commit.source.job);
    } catch (const LacksMemory&) {
      done(std::current_exception());
      return;
    }
    job->folded->limit(commit.batch);
  }
  const SteadyTime begun = steady_now();
  const std::size_t kept_lines = commit.kept_lines.size();
  auto underway = std::make_shared<Underway>(*this, commit.source);
  auto ended = [underway, done = std::move(done)](std::exception_ptr failure) {
    underway->end();
    done(failure);
  };
  store_.submit(
      std::move(commit),
      [this, begun, kept_lines, job, is_for_next_server, underway, ended = std::move(ended)](
          const std::shared_ptr<const Commit>& saved, std::exception_ptr failure) {
        metrics_.count_commit(steady_now() - begun, failure != nullptr);
        underway->leave();
        if (failure) {
          ended(failure);
          return;
        }
        metrics_.count_batch(saved->batch, kept_lines);
        if (is_for_next_server) {
          ended(nullptr);
          return;
        }
        fold(job, saved, ended);
      });
}

// A commit that cannot be folded is safe on the disk all the same, and the job is read from there
// soon. The sender gets an error.
void LiveJobs::fold(const std::shared_ptr<Job>& job, const std::shared_ptr<const Commit>& saved,
                    std::function<void(std::exception_ptr)> done) {
  const bool is_alone =
      job->folded->queue(saved, [this, begun = steady_now(), done = std::move(done), job,
                                 source = saved->source.name](std::exception_ptr failure) {
        metrics_.count_fold(steady_now() - begun);
        if (failure) set_aside_for(*job, source, failure);
        if (job->is_forgotten) renew(job->name);
        done(failure);
      });
  if (is_alone && saved->batch.events.size() <= kEventsFoldedAtOnce)
    job->folded->fold_queued();
  else
    fold_later(job);
}

// Jobs take turns: one that always has more lets the others go first.
void LiveJobs::fold_later(const std::shared_ptr<Job>& job) {
  boost::asio::post(folding_.get_executor(), [this, job] {
    if (job->folded->fold_once()) fold_later(job);
  });
}

void LiveJobs::set_aside_for(Job& job, const std::string& source,
                             const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::length_error& error) {
    set_aside(job, error.what());
  } catch (const std::exception& error) {
    {
      const std::lock_guard lock(job.set_aside_mutex);
      job.read_anew_at = steady_now();
    }
    set_aside(job,
              fmt::format("stored data of {} could not be loaded ({}); trying again", source,
                          error.what()),
              true);
  }
}

std::optional<StoredSource> LiveJobs::settled_source(const std::string& job,
                                                     const std::string& source) {
  bool on_its_way = false;
  {
    const std::lock_guard lock(on_its_way_mutex_);
    on_its_way = on_its_way_.contains({job, source});
  }
  if (on_its_way) store_.drain();
  return store_.source(job, source);
}

std::optional<SourceState> LiveJobs::source_state(std::string_view name, std::string_view source) {
  const std::shared_ptr<Job> job = find(name);
  if (!job) return std::nullopt;
  const FoldedJob::Reading state = job->read();
  const SourceState* known = state->sources().find(source);
  return known == nullptr ? std::nullopt : std::optional(*known);
}

std::vector<std::string> LiveJobs::sources_that(
    std::string_view name, const std::vector<std::string>& sources,
    const std::function<bool(const SourceState&)>& fulfil) {
  std::vector<std::string> those;
  const std::shared_ptr<Job> job = find(name);
  if (!job) return those;
  const FoldedJob::Reading state = job->read();
  for (const std::string& source : sources)
    if (const SourceState* known = state->sources().find(source); known && fulfil(*known))
      those.push_back(source);
  return those;
}

void LiveJobs::prepare(std::string_view name) {
  try {
    const std::shared_ptr<Job> job = find(name);
    if (job && lacks_memory(*job)) relieve_memory();
  } catch (const LacksMemory&) {
    return;
  }
}

bool LiveJobs::is_prepared(std::string_view name) const {
  const std::shared_ptr<Job> job = known(name);
  return !job || (job->is_read && !lacks_memory(*job));
}

bool LiveJobs::source_ended(std::string_view name, std::string_view source) {
  const std::optional<SourceState> known = source_state(name, source);
  return known && known->end != SourceEnd::open;
}

std::vector<std::string> LiveJobs::names() const {
  const std::shared_lock lock(mutex_);
  std::vector<std::string> names;
  names.reserve(jobs_.size());
  for (const auto& entry : jobs_) names.push_back(entry.first);
  return names;
}

std::size_t LiveJobs::count() const {
  const std::shared_lock lock(mutex_);
  return jobs_.size();
}

}  // namespace faultline
