// LiveJobs: the state of every job in memory, always what folding the stored batches gives.
//
// A batch goes to the store first and is folded once it is on the disk (FoldedJob), in the order of
// commits. Readers see a job as of the last batch that was acknowledged, or later.
#pragma once

#include <atomic>
#include <exception>
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
#include "rules/knowledge/live_catalog.h"
#include "service/folded_job.h"
#include "service/metrics.h"
#include "service/open_sources.h"
#include "service/reanalysis.h"
#include "store/store.h"

namespace faultline {

// When what does not come is taken not to come.
struct LiveSettings {
  std::chrono::seconds stall_after = std::chrono::minutes{2};
  // What a job suffered from is over when nothing has come of it for so long.
  std::chrono::seconds resolve_after = std::chrono::hours{24};
  // A job that nobody asks for or sends to for so long is kept on the disk only.
  std::chrono::seconds rest_after = std::chrono::minutes{10};
  // What calls came to takes their place on the disk when they take so many bytes there. Fewer are
  // as soon read.
  std::uint64_t shorten_after = std::uint64_t{4} << 20;
  // Lines are kept, so that they can be read again and shown.
  bool keeps_lines = true;
};

class LiveJobs {
 public:
  LiveJobs(Store& store, const LiveCatalog& catalog, Metrics& metrics, LiveSettings settings = {});
  ~LiveJobs();

  // Learns which jobs are stored, is ready, and then reads and judges them, the latest first.
  // Nothing may be committed or asked before ready(). Given up, without an error, once `stop` is
  // set, which is looked at as long as this lives.
  void start(const std::atomic<bool>& stop);
  bool ready() const { return ready_; }

  // `done` is called when the commit is durable and part of its job's state, or with the reason why
  // it is not; on the store's thread, or on that of a reader of the job. Blocks nobody.
  void commit(Commit commit, std::function<void(std::exception_ptr)> done);
  std::size_t commits_in_flight() const { return commits_in_flight_; }  // of all jobs

  // Where a source stands, everything committed to it included: waits for the disk if some of it is
  // still on its way.
  std::optional<StoredSource> settled_source(const std::string& job, const std::string& source);

  // As the job knows it; nothing: it does not.
  std::optional<SourceState> source_state(std::string_view job, std::string_view source);

  // Whether what is held of the source ends where a sender ended it.
  bool source_ended(std::string_view job, std::string_view source);

  bool keeps_lines() const { return settings_.keeps_lines; }

  struct Reanalyzed {
    std::optional<ReanalysisTold> told;  // nothing: there is no such job, or it is set aside
    bool is_busy = false;                // stored batches are being rewritten; another time
  };
  // Reads the kept lines of the job again, with the catalog that is in force. Its answers follow
  // soon.
  Reanalyzed reanalyze(const std::string& job);

  OpenSources& open_sources() { return open_sources_; }
  const LiveCatalog& catalog() const { return catalog_; }

  std::vector<std::string> names() const;  // sorted
  std::size_t count() const;
  std::size_t count_in_memory() const;
  // Of each job what was last said of it, without saying it anew; jobs that were not read since the
  // start are left out.
  std::map<Verdict, std::size_t> count_by_verdict() const;
  // Of which nothing is known yet but their names: a list of what they tell has to read them first.
  std::size_t count_unread() const;

  // Null or nothing: there is no such job.
  // attempt: of a job that was started again; 0 for the latest.
  std::shared_ptr<const Diagnosis> diagnosis(std::string_view job, int attempt = 0);
  std::optional<JobOverview> overview(std::string_view job);
  std::optional<JobDetail> detail(std::string_view job);
  // As of a diagnosis of it.
  std::optional<std::vector<RankView>> ranks(std::string_view job, const Diagnosis& diagnosis);
  std::optional<Heard> heard(std::string_view job, const Diagnosis& diagnosis);

  // By source, why the last dump in it was not read.
  std::map<std::string, std::string> refused(std::string_view job);

  // What every job tells of its hosts, by the jobs' names.
  struct JobOnHosts {
    std::string job;
    std::optional<Timestamp> last_activity;
    std::shared_ptr<const HostViews> hosts;
  };
  std::vector<JobOnHosts> hosts();

  // Why the job is not judged: not all that is stored of it can be read back. Nothing: it is
  // judged.
  std::optional<std::string> set_aside(std::string_view job);
  std::size_t count_set_aside() const;

  // Forgets the job, with all that is stored of it. False: there is none, or something came of it
  // after `unless_after`.
  bool forget(const std::string& job, std::optional<Timestamp> unless_after = std::nullopt);

  bool is_stopping() const { return stop_ != nullptr && *stop_; }

  // Makes the stored findings of the job what its diagnosis says now; returns how many were opened.
  // Blocks on the disk if they changed.
  std::size_t reconcile(std::string_view job);

  // The same, but of a large job that many write to it may be left to reconcile_open().
  std::size_t reconcile_soon(std::string_view job);

  // The same for every job that is being written to: what shows with time, not only with lines; and
  // for those that reconcile_soon() left.
  void reconcile_open();

  // Has the store keep what calls came to in place of the calls, of jobs of which it holds many.
  void shorten_stored();

  // An operator has said something of a finding: what the store has is to be compared anew.
  void reconcile_anew(std::string_view job);

 private:
  struct Job;
  struct Sketch;
  class Underway;

  std::vector<std::shared_ptr<Job>> all() const;
  std::shared_ptr<Job> known(std::string_view name) const;  // maybe not read
  // Read from the store if it is not yet, which may take its time.
  std::shared_ptr<Job> find(std::string_view name);
  std::shared_ptr<Job> find_or_add(const std::string& name);
  void add(const std::string& name);
  void wake(Job& job);
  bool rest(const std::string& name);
  bool may_rest(Job& job) const;
  std::shared_ptr<const Sketch> sketched(Job& job);
  // Of one that rests, where it still holds.
  std::shared_ptr<const Sketch> sketch_of(const Job& job) const;
  void fold(const std::shared_ptr<Job>& job, const std::shared_ptr<const Commit>& saved,
            std::function<void(std::exception_ptr)> done);
  std::shared_ptr<const Diagnosis> diagnose_now(Job& job);
  void judge_at_start(const std::string& job);
  static void set_aside(Job& job, std::string why);
  static void set_aside_for(Job& job, const std::string& source, const std::exception_ptr& failure);
  static std::string why_set_aside(Job& job);
  static std::shared_ptr<const Diagnosis> set_aside_diagnosis(Job& job, const std::string& why);
  std::size_t reconcile(Job& job);
  bool is_over(Job& job) const;
  bool has_just_ended(Job& job) const;
  bool is_to_be_judged(Job& job) const;
  bool is_to_be_judged_by_time(Job& job) const;
  static bool is_to_be_read_anew(Job& job);
  bool is_to_be_shortened(Job& job) const;
  void shorten(Job& job);
  void go_on_shortening();
  std::optional<std::uint64_t> read_all_to_their_ends(Job& job);
  bool read_to_the_end(Job& job);
  static void remember_what_was_told(Job& job, Timestamp now);
  // And what operators said of it, by the store.
  void recall_what_was_told(Job& job);
  Moment moment_of(const Job& job, std::vector<PastOffence> past_offences) const;
  JobOnHosts hosts_of_job(Job& job);
  std::shared_ptr<const HostViews> hosts_of(const std::string& job);
  std::vector<PastOffence> past_offences(Job& job);
  std::string uuid_of(const Offence& offence);
  bool others_were_clean(const Offence& offence);
  void note_offences(Job& job, const Diagnosis& diagnosis,
                     const std::set<std::string, std::less<>>& blamed);

  Store& store_;
  const LiveCatalog& catalog_;
  Metrics& metrics_;
  LiveSettings settings_;
  OpenSources open_sources_;
  const Timestamp begun_ = utc_now();
  std::atomic<bool> ready_{false};
  const std::atomic<bool>* stop_ = nullptr;
  std::atomic<std::chrono::seconds> patience_;  // until a job rests
  SteadyTime trimmed_at_;                       // by who reconciles; so the next
  bool is_shortening_left_ = true;              // by who shortens
  std::mutex rewriting_mutex_;                  // stored batches, in place of others
  bool has_to_trim_ = false;                    // jobs came to rest since
  // Grows when a job's diagnosis blames another part than before: what others know of it is old.
  std::atomic<std::uint64_t> offences_version_{1};

  std::atomic<std::size_t> commits_in_flight_{0};
  std::mutex on_its_way_mutex_;
  // Commits that are not on the disk yet, by job and source.
  std::map<std::pair<std::string, std::string>, std::size_t> on_its_way_;

  mutable std::shared_mutex mutex_;  // guards the map, not the jobs in it
  std::map<std::string, std::shared_ptr<Job>, std::less<>> jobs_;
};

}  // namespace faultline
