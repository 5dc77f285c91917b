// LiveJobs: the state of every job in memory. It always equals the fold of the stored batches.
//
// A batch goes to the store first and is folded once it is on the disk (FoldedJob), in the order of
// commits. Readers see a job as of the last batch that was acknowledged, or later.
#pragma once

#include <atomic>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/answer/diagnosis.h"
#include "rules/answer/heard.h"
#include "rules/answer/host_views.h"
#include "rules/answer/operations.h"
#include "rules/knowledge/live_catalog.h"
#include "service/folded_job.h"
#include "service/memory_budget.h"
#include "service/metrics.h"
#include "service/open_sources.h"
#include "service/pool.h"
#include "service/process_use.h"
#include "service/reading_marks.h"
#include "service/reanalysis.h"
#include "service/unanswered_pushes.h"
#include "service/wanted_evidence.h"
#include "store/store.h"

namespace faultline {

// How long to wait for what may still come, and what to keep.
struct LiveSettings {
  std::chrono::seconds stall_after = std::chrono::minutes{2};
  // The findings of a job are over when nothing has come of it for so long.
  std::chrono::seconds resolve_after = std::chrono::hours{24};
  // A job that nobody asks for or sends to for so long is kept on the disk only.
  std::chrono::seconds rest_after = std::chrono::minutes{10};
  // Calls that take so many bytes on the disk are replaced there by their packed result, and
  // reports that no answer needs any more are dropped. Fewer are read just as quickly.
  std::uint64_t shorten_after = std::uint64_t{4} << 20;
  // Lines are kept, so that they can be read again and shown.
  bool keeps_lines = true;
  JobLimits limits;
  // How much memory all jobs may take together, by `memory_used`; 0: no limit.
  std::uint64_t memory = 0;
  MemoryBudget::Measure memory_used = own_memory;
  // Where the next process learns which jobs this one was reading when it died; empty: nowhere.
  std::filesystem::path marks;
};

class LiveJobs {
 public:
  LiveJobs(Store& store, const LiveCatalog& catalog, Metrics& metrics, LiveSettings settings = {});
  ~LiveJobs();

  // Learns which jobs are stored, becomes ready, and then reads and judges them, the latest first.
  // Nothing may be committed or asked before ready(). Returns early, without an error, once `stop`
  // is set. `stop` must outlive this object.
  void start(const std::atomic<bool>& stop);
  bool ready() const { return ready_; }

  // `done` is called when the commit is durable and part of its job's state, or with the reason why
  // it is not; on the store's thread, on one that folds, or on that of a reader of the job. Does
  // not wait for the write.
  void commit(Commit commit, std::function<void(std::exception_ptr)> done);
  // Waits until all commits are folded. Nothing may be committed afterwards.
  void finish();
  std::size_t commits_in_flight() const { return commits_in_flight_; }  // of all jobs
  // Whether all senders together have so many commits on the way to the disk that one which has
  // some should wait.
  bool is_congested() const {
    constexpr std::size_t kMaxCommitsOfAll = 64;
    return commits_in_flight_ >= kMaxCommitsOfAll;
  }

  // Where a source stands, including everything committed to it: waits for the disk if some of it
  // is still on its way.
  std::optional<StoredSource> settled_source(const std::string& job, const std::string& source);

  // The source as the job knows it; nothing if the job does not know it.
  std::optional<SourceState> source_state(std::string_view job, std::string_view source);

  // Those of the sources that the job knows and that fulfil the condition, in the order given.
  std::vector<std::string> sources_that(std::string_view job,
                                        const std::vector<std::string>& sources,
                                        const std::function<bool(const SourceState&)>& fulfil);

  // Reads the job if it is stored and not in memory, which may take a while. If there is no memory
  // for that, known_as_set_aside() tells of it.
  void prepare(std::string_view job);
  // Whether prepare() would return at once.
  bool is_prepared(std::string_view job) const;

  // Whether what is held of the source ends where a sender ended it.
  bool source_ended(std::string_view job, std::string_view source);

  Timestamp begun() const { return begun_; }  // this process

  bool keeps_lines() const { return settings_.keeps_lines; }

  struct Reanalyzed {
    std::optional<ReanalysisTold> told;  // nothing: there is no such job, or it is set aside
    bool is_busy = false;                // stored batches are being rewritten; try another time
  };
  // Reads the kept lines of the job again, with the catalog that is in force. The answers about the
  // job change soon after. A job that is set aside because the server died of it is tried again.
  Reanalyzed reanalyze(const std::string& job);

  OpenSources& open_sources() { return open_sources_; }
  UnansweredPushes& unanswered_pushes() { return unanswered_pushes_; }
  WantedEvidence& wanted() { return wanted_; }
  const LiveCatalog& catalog() const { return catalog_; }
  MemoryBudget& memory() { return memory_; }

  std::vector<std::string> names() const;  // sorted
  std::size_t count() const;
  bool is_in_memory(std::string_view job) const;
  std::size_t count_in_memory() const;
  // Counts jobs by their last verdict, without a new diagnosis. Leaves out jobs that were not read
  // since the start.
  std::map<Verdict, std::size_t> count_by_verdict() const;
  // Jobs of which only the names are known yet: a list of jobs has to read them first.
  std::size_t count_unread() const;

  // These return null or nothing if there is no such job. `attempt`: of a job that was started
  // again; 0 for the latest.
  std::shared_ptr<const Diagnosis> diagnosis(std::string_view job, int attempt = 0);
  std::optional<JobOverview> overview(std::string_view job);
  std::optional<JobDetail> detail(std::string_view job);
  // As of `diagnosis`.
  std::optional<std::vector<RankView>> ranks(std::string_view job, const Diagnosis& diagnosis);
  std::optional<Heard> heard(std::string_view job, const Diagnosis& diagnosis);
  // Also nothing if the job has no communicator with this id.
  std::optional<OperationsView> operations(std::string_view job, const Diagnosis& diagnosis,
                                           std::string_view communicator,
                                           const OperationsAsked& asked);

  // By source, why the last dump in it was not read.
  std::map<std::string, std::string> refused(std::string_view job);

  // What every job says about its hosts, in the order of the jobs' names.
  struct JobOnHosts {
    std::string job;
    std::optional<Timestamp> last_activity;
    std::shared_ptr<const HostViews> hosts;
  };
  std::vector<JobOnHosts> hosts();

  // Why the job is not judged: some of its stored data cannot be read back, or it exceeds a limit.
  // Nothing: it is judged.
  std::optional<std::string> set_aside(std::string_view job);
  struct SetAside {
    std::string why;
    bool for_now = false;     // the job is read again
    bool for_memory = false;  // LacksMemory
  };
  // The same, without reading the job. Of a job that is not in memory nothing is known.
  std::optional<SetAside> known_as_set_aside(std::string_view job) const;
  std::size_t count_set_aside() const;
  std::size_t count_lacking_memory() const;  // jobs that wait for it

  // Deletes the job from memory and from the store, as Store::delete_job does. False: there is
  // none, or something came of it after `unless_after`.
  bool forget(const std::string& job, std::optional<Timestamp> unless_after = std::nullopt);

  bool is_stopping() const { return stop_ != nullptr && *stop_; }

  // The server was asked to end: no job is to blame if somebody kills it now.
  void note_stop() { marks_.withdraw(); }

  // Makes the stored findings of the job agree with its diagnosis; returns how many were opened.
  // Waits for the disk if they changed.
  std::size_t reconcile(std::string_view job);

  // The same, but leaves a job whose diagnosis is costly to reconcile_open() if it was judged just
  // before.
  std::size_t reconcile_soon(std::string_view job);

  // The same for every job that is being written to, because a diagnosis changes with time and not
  // only with lines; and for jobs that reconcile_soon() left.
  void reconcile_open();

  // Makes the store replace the calls of long jobs by their packed result, and drop the reports
  // about parts that no answer needs any more.
  void shorten_stored();

  // Call after an operator's review of a finding: compares with the stored findings anew.
  void reconcile_anew(std::string_view job);

 private:
  struct Job;
  struct Sketch;
  class Underway;
  class LargeReading;

  std::vector<std::shared_ptr<Job>> all() const;            // none can rest meanwhile
  std::vector<std::weak_ptr<Job>> all_loosely() const;      // some may rest or be deleted meanwhile
  std::shared_ptr<Job> known(std::string_view name) const;  // maybe not read
  // Reads the job from the store if it is not in memory, which may take a while.
  std::shared_ptr<Job> find(std::string_view name);
  std::shared_ptr<Job> find_or_add(const std::string& name);
  void add(const std::string& name);
  void renew(const std::string& name, bool is_there = true);
  void wake(Job& job);
  void wake_set_aside(Job& job);
  bool rest(const std::string& name);
  bool may_rest(Job& job) const;
  // The same, also if somebody asked for the job or sent to it lately.
  bool may_rest_for_memory(Job& job) const;
  bool put_to_rest(std::shared_ptr<Job> job, std::shared_ptr<const Sketch> sketch);
  bool is_large(const Job& job) const;
  bool lacks_memory(const Job& job) const;
  // While all jobs together take too much memory, has jobs rest. Returns whether that suffices.
  bool relieve_memory();
  bool rest_for_memory(const std::string& name);
  bool put_back(const std::string& name);
  std::shared_ptr<Sketch> sketched(Job& job);
  // The sketch of a job that rests, if it is still valid.
  std::shared_ptr<const Sketch> sketch_of(const Job& job) const;
  void fold(const std::shared_ptr<Job>& job, const std::shared_ptr<const Commit>& saved,
            std::function<void(std::exception_ptr)> done);
  void fold_later(const std::shared_ptr<Job>& job);
  std::shared_ptr<const Diagnosis> diagnose_now(Job& job);
  std::shared_ptr<const Diagnosis> diagnose_to_tell(Job& job);
  void judge_at_start(const std::string& job);
  void reconcile_later(std::string_view job);
  // Returns false if memory lacks.
  bool judge_in_time(Job& job);
  bool waits_for_its_time(const std::string& job) const;
  static void set_aside(Job& job, std::string why, bool for_now = false);
  static void set_aside_for(Job& job, const std::string& source, const std::exception_ptr& failure);
  static std::string why_set_aside(Job& job);
  static std::shared_ptr<const Diagnosis> set_aside_diagnosis(Job& job, const std::string& why);
  std::size_t reconcile(Job& job);
  bool is_over(Job& job) const;
  Timestamp is_of_now_until(Job& job, const Diagnosis& diagnosis) const;
  bool has_just_ended(Job& job) const;
  bool is_to_be_judged(Job& job) const;
  bool is_to_be_judged_by_time(Job& job) const;
  static bool is_to_be_read_anew(Job& job);
  bool has_calls_to_pack(Job& job) const;
  bool has_events_to_drop(Job& job) const;
  void pack_calls(Job& job);
  void drop_events(Job& job);
  void shorten(Job& job);
  void go_on_shortening();
  std::optional<std::uint64_t> read_all_to_their_ends(Job& job);
  bool read_to_the_end(Job& job);
  static void remember_what_was_told(Job& job, Timestamp now);
  // Reads both from the store: what was told, and what operators said of it.
  void recall_what_was_told(Job& job);
  Moment moment_of(const Job& job, std::vector<PastOffence> past_offences) const;
  static JobOnHosts hosts_in(const Sketch& sketch);
  JobOnHosts hosts_of_job(Job& job);
  std::shared_ptr<const HostViews> hosts_of(std::string_view job);
  std::vector<PastOffence> past_offences(Job& job);
  bool ask_other_jobs(const std::vector<const Offence*>& offences, std::vector<PastOffence>& past);
  void note_offences(Job& job, const Diagnosis& diagnosis,
                     const std::set<std::string, std::less<>>& blamed);

  Store& store_;
  const LiveCatalog& catalog_;
  Metrics& metrics_;
  LiveSettings settings_;
  MemoryBudget memory_;
  ReadingMarks marks_;
  OpenSources open_sources_;
  UnansweredPushes unanswered_pushes_;
  WantedEvidence wanted_;
  const Timestamp begun_ = utc_now();
  std::atomic<bool> ready_{false};
  const std::atomic<bool>* stop_ = nullptr;
  std::atomic<std::chrono::seconds> patience_;  // until a job rests
  SteadyTime trimmed_at_;                       // used only by reconcile_open()
  bool is_shortening_left_ = true;              // used only by shorten_stored()
  std::mutex rewriting_mutex_;                  // held while stored batches are replaced
  bool has_to_trim_ = false;                    // jobs came to rest since trimmed_at_
  // Grows when a job's diagnosis blames another part than before: what other jobs know of past
  // offences is then out of date.
  std::atomic<std::uint64_t> offences_version_{1};

  std::mutex relieving_mutex_;
  // Held while a large job is read or diagnosed and memory is tight. Nobody waits for it.
  std::mutex large_job_mutex_;

  std::atomic<std::size_t> commits_in_flight_{0};
  std::mutex on_its_way_mutex_;
  // Commits that are not on the disk yet, by job and source.
  std::map<std::pair<std::string, std::string>, std::size_t> on_its_way_;

  mutable std::shared_mutex mutex_;  // guards the map, not the jobs in it
  std::map<std::string, std::shared_ptr<Job>, std::less<>> jobs_;

  Pool folding_{2};  // last: its threads use all the rest
};

}  // namespace faultline
