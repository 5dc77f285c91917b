#include "service/live_jobs.h"

#include <fmt/format.h>

#include <cstdio>
#include <set>

#include "ingest/reader.h"
#include "service/asked_lines.h"
#include "service/clock.h"
#include "service/offences.h"
#include "service/pace.h"
#include "service/resend_filter.h"

namespace faultline {
namespace {

// A diagnosis depends on the moment it is made; after this long it is made anew even if no line
// came.
constexpr std::chrono::seconds kFresh{1};

// Hosts with GPUs that reported something: the others' pasts do not matter. All of them, if some
// report names no host.
std::vector<std::string> hosts_with_reports(const JobState& state) {
  const std::set<std::string>& all = state.sources().hosts();
  if (!state.hardware().switch_errors().empty() || !state.kernel_lines().logs().empty() ||
      !state.parts().records().empty())
    return {all.begin(), all.end()};
  std::set<std::string> hosts;
  for (const XidIncident& incident : state.hardware().xids()) {
    std::string host = state.host_of(incident.spoken_host, incident.source);
    if (host.empty()) return {all.begin(), all.end()};
    hosts.insert(std::move(host));
  }
  return {hosts.begin(), hosts.end()};
}

constexpr std::size_t kOfOthers = std::size_t{1} << 32U;

// As the store tells offences: the one GPU, else the ends of a link, else the one host.
std::vector<std::string> offenders_in(const Subject& subject) {
  if (!subject.gpus.empty())
    return subject.gpus.size() == 1 ? subject.gpus : std::vector<std::string>();
  if (!subject.nics.empty()) return subject.nics;
  return subject.hosts.size() == 1 ? subject.hosts : std::vector<std::string>();
}

Standing standing_of(const Diagnosis& diagnosis) {
  Standing standing{.blamed = blamed_in(diagnosis)};
  for (const Finding& cause : diagnosis.root_causes) standing.causes.insert(cause.id);
  for (const Finding& symptom : diagnosis.symptoms) standing.symptoms.insert(symptom.id);
  return standing;
}

}  // namespace

struct LiveJobs::Job {
  explicit Job(std::string name) : folded(std::move(name)) {}

  FoldedJob::Reading read() { return FoldedJob::Reading(folded); }

  FoldedJob folded;

  std::mutex set_aside_mutex;
  std::string set_aside;  // why; empty: it is not

  std::mutex cache_mutex;  // also keeps several askers from computing the same
  std::shared_ptr<const Diagnosis> cached;
  std::uint64_t cached_version = 0;
  std::uint64_t cached_catalog = 0;  // its version
  std::uint64_t cached_offences = 0;
  std::set<std::string, std::less<>> cached_live;
  std::set<std::string, std::less<>> cached_open;
  SteadyTime cached_at;
  // As the cached one says, for the next.
  std::map<std::string, Timestamp, std::less<>> suspected_since;
  std::set<std::string, std::less<>> told;
  std::set<std::string, std::less<>> wrong;  // by an operator's word

  std::mutex ends_mutex;
  std::map<std::string, Timestamp, std::less<>> read_to_the_end;  // sources, and as of when

  std::mutex offences_mutex;  // of other jobs, on the GPUs of this one's hosts
  std::vector<PastOffence> offences;
  std::uint64_t offences_version = 0;  // 0: not asked for yet
  // How many there were when the store was asked; both only grow.
  std::size_t offences_hosts = 0;
  std::size_t offences_reports = 0;

  std::mutex hosts_mutex;
  std::shared_ptr<const HostViews> hosts;
  std::uint64_t hosts_version = 0;
  std::uint64_t hosts_catalog = 0;

  // Findings reach the store in the order of the states they were read off.
  std::mutex reconcile_mutex;
  struct Judged {
    int attempt = 0;
    std::vector<Finding> findings;
    Standing standing;
    bool operator==(const Judged&) const = default;
  };
  std::optional<Judged> reconciled;                  // as the store has it
  std::set<std::pair<std::string, Cause>> offended;  // part and class
  Pace pace;                                         // of reconciling
  std::atomic<bool> is_due = false;                  // to be reconciled
};

LiveJobs::LiveJobs(Store& store, const LiveCatalog& catalog, Metrics& metrics,
                   LiveSettings settings)
    : store_(store),
      catalog_(catalog),
      metrics_(metrics),
      settings_(settings),
      open_sources_(settings.stall_after) {}

LiveJobs::~LiveJobs() = default;

void LiveJobs::replay(const std::atomic<bool>& stop) {
  struct Stopped {};
  try {
    store_.finish_deleting();
    const std::vector<DamagedSource> damaged =
        store_.replay([&](const Source& source, const Batch& batch, Timestamp received) {
          if (stop) throw Stopped{};
          const std::shared_ptr<Job> job = find_or_add(source.job);
          try {
            job->folded.fold(source, batch, received);
          } catch (const std::exception& error) {
            set_aside(*job, fmt::format("what is stored of {} cannot be read back: {}", source.name,
                                        error.what()));
          }
        });
    for (const DamagedSource& source : damaged)
      set_aside(*find_or_add(source.job), fmt::format("not all that was stored of {} is there ({})",
                                                      source.name, source.how));
    for (const std::string& job : names()) recall_what_was_told(job);
    ready_ = true;
    // What the last run committed without getting to judge it.
    for (const std::string& job : names()) {
      if (stop) throw Stopped{};
      judge_at_start(job);
    }
  } catch (const Stopped&) {
  }
}

// One job that cannot be judged keeps no other from being served.
void LiveJobs::judge_at_start(const std::string& job) {
  try {
    reconcile(job);
  } catch (const StoreError& error) {
    // It serves all the same, and tries again.
    fmt::print(stderr, "findings of job {} could not be stored: {}\n", job, error.what());
    find_or_add(job)->is_due = true;
  } catch (const std::exception& error) {
    set_aside(*find_or_add(job), fmt::format("it cannot be judged: {}", error.what()));
  }
}

void LiveJobs::set_aside(Job& job, std::string why) {
  const std::lock_guard lock(job.set_aside_mutex);
  if (!job.set_aside.empty()) return;
  job.set_aside = std::move(why);
  fmt::print(stderr, "job {} is set aside: {}\n", job.folded.name(), job.set_aside);
}

std::string LiveJobs::why_set_aside(Job& job) {
  const std::lock_guard lock(job.set_aside_mutex);
  return job.set_aside;
}

std::optional<std::string> LiveJobs::set_aside(std::string_view name) const {
  const std::shared_ptr<Job> job = find(name);
  std::string why = job ? why_set_aside(*job) : std::string();
  return why.empty() ? std::nullopt : std::optional(std::move(why));
}

std::size_t LiveJobs::count_set_aside() const {
  std::size_t count = 0;
  for (const std::string& name : names())
    if (set_aside(name)) ++count;
  return count;
}

// Of what may lack lines nothing is said but that.
std::shared_ptr<const Diagnosis> LiveJobs::set_aside_diagnosis(Job& job, const std::string& why) {
  auto diagnosis = std::make_shared<Diagnosis>();
  diagnosis->job = job.folded.name();
  diagnosis->attempt = diagnosis->attempts = 1;
  diagnosis->as_of = job.read()->last_told();
  diagnosis->verdict = Verdict::unknown;
  diagnosis->summary = fmt::format(
      "This job is set aside, and not judged: {}. To have it judged, delete it "
      "(curl -X DELETE .../api/v1/jobs/{}) and send its logs again.",
      why, job.folded.name());
  return diagnosis;
}

bool LiveJobs::forget(const std::string& name) {
  const bool known = store_.delete_job(name, utc_now());
  const std::unique_lock lock(mutex_);
  return jobs_.erase(name) > 0 || known;
}

std::shared_ptr<LiveJobs::Job> LiveJobs::find(std::string_view name) const {
  const std::shared_lock lock(mutex_);
  const auto found = jobs_.find(name);
  return found == jobs_.end() ? nullptr : found->second;
}

std::shared_ptr<LiveJobs::Job> LiveJobs::find_or_add(const std::string& name) {
  if (auto job = find(name)) return job;
  const std::unique_lock lock(mutex_);
  std::shared_ptr<Job>& job = jobs_[name];
  if (!job) job = std::make_shared<Job>(name);
  return job;
}

void LiveJobs::commit(Commit commit, std::function<void(std::exception_ptr)> done) {
  const SteadyTime begun = steady_now();
  ++commits_in_flight_;
  {
    const std::lock_guard lock(on_its_way_mutex_);
    ++on_its_way_[{commit.source.job, commit.source.name}];
  }
  auto ended = [this, done = std::move(done)](std::exception_ptr failure) {
    --commits_in_flight_;
    done(failure);
  };
  store_.submit(std::move(commit),
                [this, begun, ended = std::move(ended)](const std::shared_ptr<const Commit>& saved,
                                                        std::exception_ptr failure) {
                  metrics_.count_commit(steady_now() - begun, failure != nullptr);
                  {
                    const std::lock_guard lock(on_its_way_mutex_);
                    const auto entry = on_its_way_.find({saved->source.job, saved->source.name});
                    if (--entry->second == 0) on_its_way_.erase(entry);
                  }
                  if (failure) {
                    ended(failure);
                    return;
                  }
                  metrics_.count_batch(saved->batch);
                  fold(saved, ended);
                });
}

// What cannot be folded is safe all the same, and a restart will fold it. The sender hears that
// something is wrong.
void LiveJobs::fold(const std::shared_ptr<const Commit>& saved,
                    std::function<void(std::exception_ptr)> done) {
  find_or_add(saved->source.job)
      ->folded.fold(saved, [this, done = std::move(done), job = saved->source.job,
                            source = saved->source.name](std::exception_ptr failure) {
        if (failure) set_aside_for(job, source, failure);
        done(failure);
      });
}

void LiveJobs::set_aside_for(const std::string& job, const std::string& source,
                             const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    set_aside(
        *find_or_add(job),
        fmt::format("what is stored of {} could not be taken in ({}); it is read anew when the "
                    "server starts again",
                    source, error.what()));
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

std::optional<SourceState> LiveJobs::source_state(std::string_view name,
                                                  std::string_view source) const {
  const std::shared_ptr<Job> job = find(name);
  if (!job) return std::nullopt;
  const FoldedJob::Reading state = job->read();
  const SourceState* known = state->sources().find(source);
  return known == nullptr ? std::nullopt : std::optional(*known);
}

bool LiveJobs::source_ended(std::string_view name, std::string_view source) const {
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

std::shared_ptr<const Diagnosis> LiveJobs::diagnose_now(Job& job) {
  if (const std::string why = why_set_aside(job); !why.empty())
    return set_aside_diagnosis(job, why);
  const std::lock_guard cache_lock(job.cache_mutex);
  const std::uint64_t offences_version = offences_version_;
  const std::uint64_t catalog_version = catalog_.version();
  std::vector<PastOffence> offences = past_offences(job);
  const auto is_fresh = [&] {
    return job.cached && job.cached_version == job.read().version() &&
           job.cached_live == open_sources_.live(job.folded.name(), steady_now()) &&
           job.cached_open == open_sources_.open(job.folded.name()) &&
           job.cached_catalog == catalog_version && job.cached_offences == offences_version &&
           steady_now() - job.cached_at < kFresh;
  };
  if (is_fresh()) return job.cached;
  const std::optional<std::uint64_t> all_read_at = read_all_to_their_ends(job);
  const FoldedJob::Reading state = job.read();
  const SteadyTime now = steady_now();
  Moment moment = moment_of(job, std::move(offences));
  moment.suspected_since = job.suspected_since;
  moment.told = job.told;
  moment.wrong = job.wrong;
  job.cached = std::make_shared<const Diagnosis>(diagnose(state.state(), *catalog_.get(), moment));
  job.cached_version = state.version();
  job.cached_catalog = catalog_version;
  job.cached_offences = offences_version;
  job.cached_live = std::move(moment.live_sources);
  job.cached_open = std::move(moment.waiting_sources);
  // What came since then may have ended as well.
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

void LiveJobs::recall_what_was_told(const std::string& name) {
  const std::shared_ptr<Job> job = find(name);
  if (!job) return;
  std::set<std::string, std::less<>> told;
  std::set<std::string, std::less<>> wrong;
  FindingFilter all{.job = name};
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
  const std::lock_guard lock(job->cache_mutex);
  job->told = std::move(told);
  job->wrong = std::move(wrong);
  job->cached.reset();
}

Moment LiveJobs::moment_of(const Job& job, std::vector<PastOffence> past_offences) const {
  return {.now = utc_now(),
          .live_sources = open_sources_.live(job.folded.name(), steady_now()),
          .waiting_sources = open_sources_.open(job.folded.name()),
          .stall_after = settings_.stall_after,
          .watched_since = begun_,
          .past_offences = std::move(past_offences)};
}

std::shared_ptr<const Diagnosis> LiveJobs::diagnosis(std::string_view name, int attempt) {
  const std::shared_ptr<Job> job = find(name);
  if (!job) return nullptr;
  auto latest = diagnose_now(*job);
  if (attempt == 0 || attempt == latest->attempt || attempt > latest->attempts) return latest;
  std::vector<PastOffence> offences = past_offences(*job);
  const FoldedJob::Reading state = job->read();
  return std::make_shared<const Diagnosis>(
      diagnose(state.state(), *catalog_.get(), moment_of(*job, std::move(offences)), attempt));
}

// Asks the store, so the job's state must not be locked.
std::vector<PastOffence> LiveJobs::past_offences(Job& job) {
  const std::lock_guard lock(job.offences_mutex);
  const std::uint64_t version = offences_version_;
  std::vector<std::string> hosts;
  std::optional<Timestamp> first_received;
  {
    const FoldedJob::Reading state = job.read();
    const std::size_t known = state->sources().hosts().size();
    // Of the others only the first changes what is asked.
    const std::size_t reports = state->hardware().xids().size() +
                                (state->hardware().switch_errors().empty() ? 0U : kOfOthers) +
                                (state->kernel_lines().logs().empty() ? 0U : 2 * kOfOthers) +
                                (state->parts().records().empty() ? 0U : 4 * kOfOthers);
    if (job.offences_version == version && job.offences_hosts == known &&
        job.offences_reports == reports)
      return job.offences;
    hosts = hosts_with_reports(state.state());
    job.offences_hosts = known;
    job.offences_reports = reports;
    job.offences_version = 0;  // until the store has answered
    first_received = state.first_received();
  }
  std::vector<PastOffence> offences;
  std::vector<Offence> stored_offences;
  if (!hosts.empty()) {
    stored_offences = store_.gpu_offences(hosts);
    std::ranges::move(store_.other_offences(hosts), std::back_inserter(stored_offences));
  }
  std::vector<const Offence*> of_others;
  for (const Offence& offence : stored_offences)
    if (offence.stored.job != job.folded.name()) of_others.push_back(&offence);
  keep_first_of_each_event(of_others);
  for (const Offence* offence : of_others) {
    const StoredFinding& stored = offence->stored;
    PastOffence& past = offences.emplace_back();
    past.part = offence->part.empty() ? offence->host : offence->host + "/" + offence->part;
    past.cause = stored.finding.cause;
    past.job = stored.job;
    past.when = stored.finding.last_seen ? stored.finding.last_seen : stored.finding.first_seen;
    past.found_before = first_received && stored.opened < *first_received;
    past.uuid = uuid_of(*offence);
    past.others_were_clean = others_were_clean(*offence);
    if (!stored.finding.evidence.empty()) past.evidence = stored.finding.evidence.front();
  }
  job.offences = std::move(offences);
  job.offences_version = version;
  return job.offences;
}

std::string LiveJobs::uuid_of(const Offence& offence) {
  const std::shared_ptr<Job> job = find(offence.stored.job);
  if (!job) return {};
  const JobOnHosts known = hosts_of_job(*job);
  const auto host = known.hosts->find(offence.host);
  if (host == known.hosts->end()) return {};
  for (const HostGpu& gpu : host->second.gpus)
    if (gpu.gpu == offence.part) return gpu.uuid;
  return {};
}

// Matters where programs are at fault: one that does it on every GPU it runs on tells nothing of
// any of them.
bool LiveJobs::others_were_clean(const Offence& offence) {
  const Cause cause = offence.stored.finding.cause;
  const std::shared_ptr<Job> job = find(offence.stored.job);
  if (!job || !is_of(cause, Family::software)) return false;
  const JobOnHosts known = hosts_of_job(*job);
  for (const auto& [host, view] : *known.hosts)
    for (const HostEvent& event : view.events)
      if (event.cause == cause && (host != offence.host || event.part != offence.part))
        return false;
  return true;
}

void LiveJobs::note_offences(Job& job, const Diagnosis& diagnosis,
                             const std::set<std::string, std::less<>>& blamed) {
  std::set<std::pair<std::string, Cause>> offended;
  for (const Finding& finding : diagnosis.root_causes)
    if (blamed.contains(finding.id))
      for (const std::string& part : offenders_in(finding.subject))
        offended.emplace(part, finding.cause);
  if (offended == job.offended) return;
  job.offended = std::move(offended);
  ++offences_version_;
}

LiveJobs::JobOnHosts LiveJobs::hosts_of_job(Job& job) {
  const std::lock_guard lock(job.hosts_mutex);
  const FoldedJob::Reading state = job.read();
  const std::uint64_t catalog_version = catalog_.version();
  if (!job.hosts || job.hosts_version != state.version() || job.hosts_catalog != catalog_version) {
    job.hosts = std::make_shared<const HostViews>(hosts_of(state.state(), *catalog_.get()));
    job.hosts_version = state.version();
    job.hosts_catalog = catalog_version;
  }
  return {state->name(), state->last_activity(), job.hosts};
}

std::vector<LiveJobs::JobOnHosts> LiveJobs::hosts() {
  std::vector<JobOnHosts> all;
  for (const std::string& name : names())
    if (const std::shared_ptr<Job> job = find(name)) all.push_back(hosts_of_job(*job));
  return all;
}

std::optional<JobOverview> LiveJobs::overview(std::string_view name) {
  const std::shared_ptr<Job> job = find(name);
  if (!job) return std::nullopt;
  const auto diagnosis = diagnose_now(*job);
  return overview_of(job->read().state(), *diagnosis);
}

std::optional<JobDetail> LiveJobs::detail(std::string_view name) {
  const std::shared_ptr<Job> job = find(name);
  if (!job) return std::nullopt;
  const auto diagnosis = diagnose_now(*job);
  return detail_of(job->read().state(), *diagnosis);
}

std::optional<std::vector<RankView>> LiveJobs::ranks(std::string_view name) {
  const std::shared_ptr<Job> job = find(name);
  if (!job) return std::nullopt;
  return ranks(name, *diagnose_now(*job));
}

std::optional<std::vector<RankView>> LiveJobs::ranks(std::string_view name,
                                                     const Diagnosis& diagnosis) {
  const std::shared_ptr<Job> job = find(name);
  if (!job) return std::nullopt;
  return ranks_of(job->read().state(), diagnosis);
}

std::map<std::string, std::string> LiveJobs::refused(std::string_view name) const {
  std::map<std::string, std::string> refused;
  const std::shared_ptr<Job> job = find(name);
  if (!job) return refused;
  const FoldedJob::Reading state = job->read();
  for (const auto& [source, why] : state->flight().refusals())
    refused[state->sources().at(source).source.name] = why;
  return refused;
}

// Nobody sends, and nobody has for long.
bool LiveJobs::is_over(Job& job) const {
  const auto last = job.read()->last_activity();
  return last && utc_now() - *last >= settings_.resolve_after &&
         open_sources_.open(job.folded.name()).empty();
}

std::size_t LiveJobs::reconcile(std::string_view name) {
  const std::shared_ptr<Job> job = find(name);
  if (!job) return 0;
  const std::lock_guard lock(job->reconcile_mutex);
  job->pace.begin(steady_now());
  const auto before = processor_time();
  const auto diagnosis = diagnose_now(*job);
  job->pace.end(processor_time() - before);
  Job::Judged found{diagnosis->attempt, findings_of(*diagnosis), standing_of(*diagnosis)};
  found.standing.over = is_over(*job);
  if (job->reconciled == found) return 0;
  const std::size_t opened =
      store_.reconcile_findings(name, found.attempt, found.findings, utc_now(), found.standing);
  note_offences(*job, *diagnosis, found.standing.blamed);
  job->reconciled = std::move(found);
  return opened;
}

std::size_t LiveJobs::reconcile_soon(std::string_view name) {
  const std::shared_ptr<Job> job = find(name);
  if (!job) return 0;
  if (!job->pace.is_too_soon(steady_now())) return reconcile(name);
  job->is_due = true;
  return 0;
}

void LiveJobs::reconcile_anew(std::string_view name) {
  const std::shared_ptr<Job> job = find(name);
  if (!job) return;
  {
    const std::lock_guard lock(job->reconcile_mutex);
    job->reconciled.reset();
  }
  recall_what_was_told(std::string(name));
  reconcile(name);
}

// As of which version of the job that is so; nothing: of none, for more came meanwhile.
std::optional<std::uint64_t> LiveJobs::read_all_to_their_ends(Job& job) {
  constexpr int kTries = 3;
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t version = job.read().version();
    if (read_to_the_end(job) && job.read().version() == version) return version;
  }
  return std::nullopt;
}

// What came last of a source may wait for more: a report for its next line. It is read as it stands
// once nothing has come for long. False: some of it has to be tried again. Asks the store, so the
// job's state must not be locked.
bool LiveJobs::read_to_the_end(Job& job) {
  struct Ended {
    std::string name;
    Timestamp received;
  };
  std::vector<Ended> ended;
  const std::set<std::string, std::less<>> open = open_sources_.open(job.folded.name());
  const std::lock_guard lock(job.ends_mutex);
  {
    const FoldedJob::Reading state = job.read();
    const Timestamp now = utc_now();
    for (const SourceState& source : state->sources().all()) {
      const std::string& name = source.source.name;
      const bool has_ended = source.end == SourceEnd::whole || source.end == SourceEnd::torn;
      if (!has_ended || now - source.last_received < settings_.stall_after || open.contains(name))
        continue;
      const auto read = job.read_to_the_end.find(name);
      if (read != job.read_to_the_end.end() && read->second == source.last_received) continue;
      ended.push_back({name, source.last_received});
    }
  }
  // Those that cannot be read to their end now, or whose end the disk does not take, are tried
  // again.
  bool is_all_read = true;
  std::map<std::string, std::shared_ptr<std::atomic<bool>>> failed;
  for (const Ended& source : ended) {
    const auto lease = open_sources_.take_if_free(job.folded.name(), source.name, [] {});
    if (!lease) {
      is_all_read = false;
      continue;
    }
    const std::optional<StoredSource> stored = settled_source(job.folded.name(), source.name);
    job.read_to_the_end[source.name] = source.received;
    if (!stored || stored->position.carry.empty()) continue;
    const SourcePosition& at = stored->position;
    Reader reader({at.offset, at.lines, at.carry}, utc_now(),
                  std::make_shared<const AskedLines>(catalog_));
    reader.close();
    Commit commit{.source = stored->source, .batch = reader.take()};
    if (commit.batch.lines == 0 && commit.batch.facts() == 0) continue;
    const Cursor after = reader.cursor();
    commit.position = {after.offset, after.lines, after.carry};
    commit.fingerprint.from_offset = commit.fingerprint.to_offset = at.offset;
    commit.fingerprint.digest = commit.fingerprint.head_digest = digest_of({});
    commit.received = source.received;  // nothing came now
    const auto has_failed = failed[source.name] = std::make_shared<std::atomic<bool>>(false);
    lease->write([&] {
      this->commit(std::move(commit),
                   [has_failed](std::exception_ptr failure) { *has_failed = failure != nullptr; });
    });
  }
  if (!failed.empty()) store_.drain();
  for (const auto& [name, has_failed] : failed) {
    if (!*has_failed) continue;
    job.read_to_the_end.erase(name);
    is_all_read = false;
  }
  return is_all_read;
}

// What it tells may be decided by now, though nothing came.
bool LiveJobs::is_to_be_judged(Job& job) const {
  constexpr int kLooks = 12;  // while it is not
  const std::lock_guard cache_lock(job.cache_mutex);
  if (!job.cached) return true;
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
  for (const std::string& job : open_sources_.jobs()) reconcile(job);
  for (const std::string& name : names()) {
    const std::shared_ptr<Job> job = find(name);
    if (is_to_be_judged(*job) || has_just_ended(*job)) job->is_due = true;
    if (!job->is_due.exchange(false)) continue;
    try {
      reconcile(name);
    } catch (...) {
      job->is_due = true;
      throw;
    }
  }
}

}  // namespace faultline
