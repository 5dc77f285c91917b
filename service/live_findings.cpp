// LiveJobs: makes the stored findings of a job agree with its diagnosis.
#include <malloc.h>

#include "logging/log.h"
#include "model/independent_steps.h"
#include "service/live_job.h"
#include "service/packed_hosts.h"

namespace faultline {
namespace {

constexpr std::size_t kManyAwake = 4096;  // jobs: each takes 30 KB or more

constexpr std::chrono::minutes kBetweenTrims{1};

// A log of this many bytes is folded again in some hundredths of a second.
constexpr std::uint64_t kSoonRead = std::uint64_t{16} << 20;

Standing standing_of(const Diagnosis& diagnosis) {
  Standing standing{.blamed = blamed_in(diagnosis)};
  for (const Finding& cause : diagnosis.root_causes) standing.causes.insert(cause.id);
  for (const Finding& symptom : diagnosis.symptoms) standing.symptoms.insert(symptom.id);
  return standing;
}

}  // namespace

// A job that cannot be judged must not keep other jobs from being served.
void LiveJobs::judge_at_start(const std::string& job) {
  try {
    if (const std::shared_ptr<Job> stored = known(job)) {
      wake(*stored);
      stored->is_due = true;  // until it is done
      reconcile(*stored);
      stored->is_due = false;
      const auto last = stored->read()->last_activity();
      if (!last || utc_now() - *last >= patience_.load())
        stored->asked_at = SteadyTime(steady_now() - settings_.rest_after);
    }
    rest(job);
  } catch (const LacksMemory&) {
    reconcile_later(job);
  } catch (const std::exception& error) {
    // The job is served all the same, and judged again later.
    say(LogLevel::error, "job-not-judged", "a job could not be judged",
        {{"job", job}, {"why", error.what()}});
  }
}

// Whether nobody sends to the job, and nobody has for long.
bool LiveJobs::is_over(Job& job) const {
  const auto last = job.read()->last_activity();
  return last && utc_now() - *last >= settings_.resolve_after &&
         open_sources_.open(job.name).empty();
}

// Agents are asked only while a job's lines come, and are of now: what its hosts show later, when
// others run there, says nothing of it. Stamps without a zone may be half a day off.
Timestamp LiveJobs::is_of_now_until(Job& job, const Diagnosis& diagnosis) const {
  constexpr std::chrono::minutes kRecent{30};
  constexpr std::chrono::hours kRecentByStamps{14};
  const auto last = job.read()->last_activity();
  if (!last) return {};
  return diagnosis.as_of ? std::min(*last + kRecent, *diagnosis.as_of + kRecentByStamps)
                         : *last + kRecent;
}

std::size_t LiveJobs::reconcile(std::string_view name) {
  const std::shared_ptr<Job> job = find(name);
  return job ? reconcile(*job) : 0;
}

// The findings of a job that is set aside stay as they are.
std::size_t LiveJobs::reconcile(Job& job) {
  const std::lock_guard lock(job.reconcile_mutex);
  if (!why_set_aside(job).empty()) return 0;
  job.pace.begin(steady_now());
  const auto before = processor_time();
  const auto diagnosis = diagnose_now(job);
  job.pace.end(processor_time() - before);
  // Half of what is known of a part may accuse it, or spare it, wrongly.
  if (job.lacks_offences) throw LacksMemory(std::chrono::seconds{1});
  Job::Judged found{diagnosis->attempt, findings_of(*diagnosis), standing_of(*diagnosis)};
  found.standing.over = is_over(job);
  {
    const std::lock_guard cache_lock(job.cache_mutex);
    job.judged = diagnosis;
  }
  if (found.standing.over)
    wanted_.forget(job.name);
  else if (const auto until = is_of_now_until(job, *diagnosis); until > utc_now())
    wanted_.note(*diagnosis, until);
  else
    wanted_.withdraw(job.name);
  if (job.reconciled == found) return 0;
  const std::size_t opened =
      store_.reconcile_findings(job.name, found.attempt, found.findings, utc_now(), found.standing);
  note_offences(job, *diagnosis, found.standing.blamed);
  job.reconciled = std::move(found);
  return opened;
}

std::size_t LiveJobs::reconcile_soon(std::string_view name) {
  try {
    const std::shared_ptr<Job> job = find(name);
    if (!job) return 0;
    if (!job->pace.is_too_soon(steady_now())) return reconcile(*job);
    job->is_due = true;
  } catch (const LacksMemory&) {
    reconcile_later(name);
  }
  return 0;
}

void LiveJobs::reconcile_later(std::string_view name) {
  if (const std::shared_ptr<Job> job = known(name)) job->is_due = true;
}

void LiveJobs::reconcile_anew(std::string_view name) {
  try {
    const std::shared_ptr<Job> job = find(name);
    if (!job) return;
    {
      const std::lock_guard lock(job->reconcile_mutex);
      job->reconciled.reset();
    }
    recall_what_was_told(*job);
    reconcile(*job);
  } catch (const LacksMemory&) {
    reconcile_later(name);  // also anew, if it has to be read first
  }
}

// Whether the diagnosis may have changed with time, even if no line came.
bool LiveJobs::is_to_be_judged(Job& job) const {
  constexpr int kLooks = 12;  // in stall_after, while the verdict is open
  const std::lock_guard cache_lock(job.cache_mutex);
  // A reader may have been told before the findings were stored.
  if (!job.cached || job.judged.lock() != job.cached) return true;
  if (!job.cached->judged_in) return false;
  const SteadyTime::duration between =
      std::max<SteadyTime::duration>(kFresh, settings_.stall_after / kLooks);
  const SteadyTime::duration passed = steady_now() - job.cached_at;
  return passed >= between ||
         passed >= std::max<SteadyTime::duration>(kFresh, *job.cached->judged_in);
}

bool LiveJobs::has_just_ended(Job& job) const {
  const std::lock_guard lock(job.reconcile_mutex);
  return job.reconciled && !job.reconciled->standing.over && is_over(job);
}

void LiveJobs::reconcile_open() {
  IndependentSteps steps;
  for (const std::string& job : open_sources_.jobs())
    if (const std::shared_ptr<Job> open = known(job); open && !waits_for_its_time(job))
      steps.run([&] { judge_in_time(*open); });
  std::vector<std::string> to_rest;
  patience_ = count_in_memory() > kManyAwake ? std::min(settings_.rest_after, kShortPatience)
                                             : settings_.rest_after;
  bool lacks = false;
  for (const std::weak_ptr<Job>& one : all_loosely()) {
    const std::shared_ptr<Job> job = one.lock();
    if (!job) continue;
    if (is_to_be_read_anew(*job) || may_rest(*job)) to_rest.push_back(job->name);
    // Who did not find the memory for one job does not look for that of the next.
    if ((lacks && !job->is_read) || marks_.waits_for_others(job->name)) continue;
    // It may have been put to rest just before this held it.
    if (is_to_be_judged_by_time(*job) && known(job->name) == job)
      steps.run([&] { lacks |= !judge_in_time(*job); });
  }
  for (const std::string& job : to_rest) steps.run([&] { rest(job); });
  // malloc keeps the freed pages of resting jobs with the threads that read them, unless it is
  // asked to return them.
  has_to_trim_ = has_to_trim_ || !to_rest.empty();
  if (has_to_trim_ && steady_now() - trimmed_at_ >= kBetweenTrims) {
    malloc_trim(0);
    trimmed_at_ = steady_now();
    has_to_trim_ = false;
  }
  relieve_memory();
  memory_.look_for_end();
  steps.end();
}

bool LiveJobs::judge_in_time(Job& job) {
  try {
    wake(job);
    if (job.read().version() > 0) reconcile(job);  // else its first commit is on its way
    return true;
  } catch (const LacksMemory&) {
    job.is_due = true;
    return false;
  } catch (...) {
    job.is_due = true;
    throw;
  }
}

// Whether it rests, although somebody may send to it: for want of memory.
bool LiveJobs::waits_for_its_time(const std::string& name) const {
  const std::shared_ptr<Job> job = known(name);
  return job && !job->is_read && job->sketch;
}

bool LiveJobs::is_to_be_judged_by_time(Job& job) const {
  if (!job.is_read)
    return job.is_due.exchange(false) ||
           (job.sketch && job.sketch->judge_at && steady_now() >= *job.sketch->judge_at);
  if (job.lacks_offences && job.pace.is_too_soon(steady_now())) return false;
  return job.is_due.exchange(false) || is_to_be_judged(job) || has_just_ended(job);
}

bool LiveJobs::is_to_be_read_anew(Job& job) {
  const std::lock_guard lock(job.set_aside_mutex);
  return job.read_anew_at && steady_now() >= *job.read_anew_at;
}

// A job may rest if nobody sends to it or asks for it and all is judged. It must also be quick to
// read again, or be over.
bool LiveJobs::may_rest(Job& job) const {
  if (!job.is_read || steady_now() - job.asked_at.load() < patience_.load() ||
      !open_sources_.open(job.name).empty())
    return false;
  return why_set_aside(job).empty() && may_rest_for_memory(job) &&
         (job.read().bytes() <= kSoonRead || is_over(job));
}

bool LiveJobs::may_rest_for_memory(Job& job) const {
  if (!job.is_read || job.is_due) return false;
  {
    const std::lock_guard lock(job.set_aside_mutex);
    if (!job.set_aside.empty()) return is_large(job) && !job.read_anew_at;
  }
  const std::unique_lock lock(job.cache_mutex, std::try_to_lock);
  return lock && job.cached != nullptr;
}

// Nothing: it is not judged, or somebody is using it.
std::shared_ptr<LiveJobs::Sketch> LiveJobs::sketched(Job& job) {
  auto sketch = std::make_shared<Sketch>();
  sketch->catalog = catalog_.version();
  sketch->hosts = packed(*hosts_of_job(job).hosts);
  sketch->set_aside = why_set_aside(job);
  if (!sketch->set_aside.empty()) {
    const auto diagnosis = set_aside_diagnosis(job, sketch->set_aside);
    const FoldedJob::Reading state = job.read();
    sketch->overview = overview_of(state.state(), *diagnosis);
    sketch->version = state.version();
    return sketch;
  }
  const std::unique_lock reconcile_lock(job.reconcile_mutex, std::try_to_lock);
  if (!reconcile_lock) return nullptr;
  const std::unique_lock cache_lock(job.cache_mutex, std::try_to_lock);
  if (!cache_lock || !job.reconciled || !job.cached || job.cached_catalog != sketch->catalog ||
      job.judged.lock() != job.cached)
    return nullptr;
  const FoldedJob::Reading state = job.read();
  if (job.cached_version != state.version()) return nullptr;
  sketch->overview = overview_of(state.state(), *job.cached);
  sketch->version = state.version();
  sketch->suspected_since = job.suspected_since;
  sketch->offended = job.offended;
  if (job.cached->judged_in) sketch->judge_at = job.cached_at + *job.cached->judged_in;
  if (!job.reconciled->standing.over && sketch->overview.last_activity) {
    const SteadyTime over =
        steady_now() + (*sketch->overview.last_activity + settings_.resolve_after - utc_now());
    sketch->judge_at = std::min(sketch->judge_at.value_or(over), over);
  }
  return sketch;
}

// Drops the state of the job from memory; it is read again when somebody asks for it. A state that
// cannot be relied upon is read again at once. Returns false if that is not possible now.
bool LiveJobs::rest(const std::string& name) {
  std::shared_ptr<Job> job = known(name);
  if (!job) return false;
  const bool anew = is_to_be_read_anew(*job);
  if (!anew && !may_rest(*job)) return false;
  std::shared_ptr<const Sketch> sketch;
  if (!anew) sketch = sketched(*job);
  if (!anew && !sketch) return false;
  if (!put_to_rest(std::move(job), std::move(sketch))) return false;
  if (!anew) return true;
  try {
    reconcile(name);
  } catch (const LacksMemory&) {
    reconcile_later(name);
  } catch (...) {
    reconcile_later(name);
    throw;
  }
  return true;
}

bool LiveJobs::put_to_rest(std::shared_ptr<Job> job, std::shared_ptr<const Sketch> sketch) {
  const std::unique_lock lock(mutex_);
  const auto found = jobs_.find(job->name);
  // Somebody uses the job, or a commit is on its way to it: try another time.
  if (found == jobs_.end() || found->second != job || job.use_count() != kOwnersOfUnused)
    return false;
  if (sketch && sketch->version != job->read().version()) return false;
  if (sketch && sketch->version == 0)
    jobs_.erase(found);  // nothing of it came to the disk
  else
    found->second = std::make_shared<Job>(job->name, std::move(sketch));
  return true;
}

}  // namespace faultline
