// LiveJobs: judges jobs, and tells what is known of them.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "service/clock.h"
#include "service/live_job.h"
#include "service/live_jobs.h"
#include "service/packed_hosts.h"

namespace faultline {

std::shared_ptr<const Diagnosis> LiveJobs::diagnose_now(Job& job) {
  if (const std::string why = why_set_aside(job); !why.empty())
    return set_aside_diagnosis(job, why);
  const std::lock_guard cache_lock(job.cache_mutex);
  const std::uint64_t offences_version = offences_version_;
  const std::uint64_t catalog_version = catalog_.version();
  std::vector<PastOffence> offences = past_offences(job);
  const auto is_fresh = [&] {
    return job.cached && job.cached_version == job.read().version() &&
           job.cached_live == open_sources_.live(job.name, steady_now()) &&
           job.cached_open == open_sources_.open(job.name) &&
           job.cached_catalog == catalog_version && job.cached_offences == offences_version &&
           steady_now() - job.cached_at < kFresh;
  };
  if (is_fresh()) return job.cached;
  // A source that is open now is not read to its end, also if it is closed a moment later.
  std::set<std::string, std::less<>> open = open_sources_.open(job.name);
  const std::optional<std::uint64_t> all_read_at = read_all_to_their_ends(job);
  std::optional<ReadingMarks::Mark> first;
  if (!job.cached) first.emplace(marks_, job.name);
  std::unique_lock turn(large_job_mutex_, std::defer_lock);
  if (is_large(job) && memory_.is_tight() && !turn.try_lock())
    throw LacksMemory(std::chrono::seconds{1});
  const FoldedJob::Reading state = job.read();
  const SteadyTime now = steady_now();
  Moment moment = moment_of(job, std::move(offences));
  moment.suspected_since = job.suspected_since;
  moment.told = job.told;
  moment.wrong = job.wrong;
  job.cached = std::make_shared<const Diagnosis>(diagnose(state.state(), *catalog_.get(), moment));
  metrics_.count_diagnosis(steady_now() - now);
  if (first) {
    first.reset();
    marks_.acquit(job.name);
  }
  job.verdict = job.cached->verdict;
  job.cached_version = state.version();
  job.cached_catalog = catalog_version;
  job.cached_offences = offences_version;
  job.cached_live = std::move(moment.live_sources);
  job.cached_open = std::move(open);
  // If more came since then, it may have ended as well: then the diagnosis is not fresh.
  job.cached_at = all_read_at == state.version() ? now : SteadyTime{};
  remember_what_was_told(job, moment.now);
  return job.cached;
}

void LiveJobs::remember_what_was_told(Job& job, Timestamp now) {
  std::map<std::string, Timestamp, std::less<>> suspected;
  for (const FindingStory& story : job.cached->explanation.findings) {
    if (story.place != Place::so_far) continue;
    const auto known = job.suspected_since.find(story.finding);
    suspected[story.finding] = known == job.suspected_since.end() ? now : known->second;
  }
  job.suspected_since = std::move(suspected);
  job.told.clear();
  for (const auto* findings : {&job.cached->root_causes, &job.cached->symptoms})
    for (const Finding& finding : *findings) job.told.insert(finding.id);
}

void LiveJobs::recall_what_was_told(Job& job) {
  std::set<std::string, std::less<>> told;
  std::set<std::string, std::less<>> wrong;
  FindingFilter all{.job = job.name};
  for (std::optional<std::uint64_t> next = 0; next;) {
    all.after = *next;
    const FindingPage page = store_.findings(all);
    for (const StoredFinding& stored : page.findings) {
      if (stored.review == "wrong") wrong.insert(stored.finding.id);
      if (stored.role != Role::observation && stored.finding.state == FindingState::open)
        told.insert(stored.finding.id);
    }
    next = page.next;
  }
  const std::lock_guard lock(job.cache_mutex);
  job.told = std::move(told);
  job.wrong = std::move(wrong);
  job.cached.reset();
}

Moment LiveJobs::moment_of(const Job& job, std::vector<PastOffence> past_offences) const {
  return {.now = utc_now(),
          .live_sources = open_sources_.live(job.name, steady_now()),
          .waiting_sources = open_sources_.open(job.name),
          .stall_after = settings_.stall_after,
          .watched_since = begun_,
          .past_offences = std::move(past_offences)};
}

// While memory is tight, a large job that is asked for is judged at once, so that it can rest for
// the next.
std::shared_ptr<const Diagnosis> LiveJobs::diagnose_to_tell(Job& job) {
  auto diagnosis = diagnose_now(job);
  if (!is_large(job) || !memory_.is_tight()) return diagnosis;
  try {
    reconcile(job);
  } catch (const StoreError&) {
    job.is_due = true;  // what was asked for does not need the disk
  }
  return diagnosis;
}

std::shared_ptr<const Diagnosis> LiveJobs::diagnosis(std::string_view name, int attempt) {
  const std::shared_ptr<Job> job = find(name);
  if (!job) return nullptr;
  auto latest = diagnose_to_tell(*job);
  if (attempt == 0 || attempt == latest->attempt || attempt > latest->attempts) return latest;
  std::vector<PastOffence> offences = past_offences(*job);
  const FoldedJob::Reading state = job->read();
  return std::make_shared<const Diagnosis>(
      diagnose(state.state(), *catalog_.get(), moment_of(*job, std::move(offences)), attempt));
}

LiveJobs::JobOnHosts LiveJobs::hosts_in(const Sketch& sketch) {
  return {sketch.overview.job, sketch.overview.last_activity,
          std::make_shared<const HostViews>(unpacked_hosts(sketch.hosts))};
}

// A job for which memory lacks is told as it was when it came to rest, even if rules have changed
// since.
LiveJobs::JobOnHosts LiveJobs::hosts_of_job(Job& job) {
  if (const std::shared_ptr<const Sketch> sketch = sketch_of(job)) return hosts_in(*sketch);
  try {
    wake(job);
  } catch (const LacksMemory&) {
    if (!job.sketch) throw;
    return hosts_in(*job.sketch);
  }
  const std::lock_guard lock(job.hosts_mutex);
  const FoldedJob::Reading state = job.read();
  const std::uint64_t catalog_version = catalog_.version();
  if (!job.hosts || job.hosts_version != state.version() || job.hosts_catalog != catalog_version) {
    job.hosts =
        std::make_shared<const HostViews>(faultline::hosts_of(state.state(), *catalog_.get()));
    job.hosts_version = state.version();
    job.hosts_catalog = catalog_version;
  }
  return {state->name(), state->last_activity(), job.hosts};
}

std::vector<LiveJobs::JobOnHosts> LiveJobs::hosts() {
  std::vector<JobOnHosts> all;
  for (const std::weak_ptr<Job>& one : all_loosely())
    if (const std::shared_ptr<Job> job = one.lock()) all.push_back(hosts_of_job(*job));
  return all;
}

// A list has to be told although memory lacks for one of its jobs.
std::optional<JobOverview> LiveJobs::overview(std::string_view name) {
  const std::shared_ptr<Job> asleep = known(name);
  if (!asleep) return std::nullopt;
  if (const std::shared_ptr<const Sketch> sketch = sketch_of(*asleep)) return sketch->overview;
  try {
    const std::shared_ptr<Job> job = find(name);
    if (!job) return std::nullopt;
    const auto diagnosis = diagnose_to_tell(*job);
    return overview_of(job->read().state(), *diagnosis);
  } catch (const LacksMemory&) {
    if (asleep->sketch) return asleep->sketch->overview;
    return JobOverview{.job = std::string(name), .verdict = Verdict::unknown};
  }
}

std::optional<JobDetail> LiveJobs::detail(std::string_view name) {
  const std::shared_ptr<Job> job = find(name);
  if (!job) return std::nullopt;
  const auto diagnosis = diagnose_to_tell(*job);
  return detail_of(job->read().state(), *diagnosis);
}

std::optional<std::vector<RankView>> LiveJobs::ranks(std::string_view name,
                                                     const Diagnosis& diagnosis) {
  const std::shared_ptr<Job> job = find(name);
  if (!job) return std::nullopt;
  return ranks_of(job->read().state(), diagnosis);
}

std::optional<Heard> LiveJobs::heard(std::string_view name, const Diagnosis& diagnosis) {
  const std::shared_ptr<Job> job = find(name);
  if (!job) return std::nullopt;
  return heard_of(job->read().state(), diagnosis);
}

std::optional<OperationsView> LiveJobs::operations(std::string_view name,
                                                   const Diagnosis& diagnosis,
                                                   std::string_view communicator,
                                                   const OperationsAsked& asked) {
  const std::shared_ptr<Job> job = find(name);
  if (!job) return std::nullopt;
  return operations_of(job->read().state(), diagnosis, communicator, asked);
}

std::map<std::string, std::string> LiveJobs::refused(std::string_view name) {
  std::map<std::string, std::string> refused;
  const std::shared_ptr<Job> job = find(name);
  if (!job) return refused;
  const FoldedJob::Reading state = job->read();
  for (const auto& [source, why] : state->flight().refusals())
    refused[state->sources().at(source).source.name] = why;
  return refused;
}

}  // namespace faultline
