// LiveJobs::Job: what memory holds of one job. At first this is only its name: the rest is read
// from the store when somebody asks for the job or sends to it.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "service/clock.h"
#include "service/folded_job.h"
#include "service/live_jobs.h"
#include "service/pace.h"

namespace faultline {

// A diagnosis depends on the moment it is made; after this long it is made anew even if no line
// came.
constexpr std::chrono::seconds kFresh{1};

// With many jobs in memory, or too little memory, each rests after so long.
constexpr std::chrono::seconds kShortPatience{10};

// The map of jobs, and whoever looks whether the job is in use.
constexpr long kOwnersOfUnused = 2;

// What stays in memory of a job that nobody asks for: enough for the lists.
struct LiveJobs::Sketch {
  JobOverview overview;
  std::string hosts;                   // packed
  std::uint64_t version = 0;           // of the state
  std::uint64_t catalog = 0;           // its version
  std::optional<SteadyTime> judge_at;  // even if no line comes
  std::string set_aside;               // why, if it is for good
  std::map<std::string, Timestamp, std::less<>> suspected_since;
  std::set<std::pair<std::string, Cause>> offended;
};

// What the server does of itself with a job that costs much to read takes one in so many parts of
// the time.
constexpr int kOneInOfReading = 20;

struct LiveJobs::Job {
  explicit Job(std::string job_name, std::shared_ptr<const Sketch> what_it_was = nullptr)
      : name(std::move(job_name)), sketch(std::move(what_it_was)) {
    if (!sketch) return;
    verdict = sketch->overview.verdict;
    set_aside = sketch->set_aside;
  }

  FoldedJob::Reading read() { return FoldedJob::Reading(*folded); }

  const std::string name;

  std::mutex reading_mutex;  // of the store
  std::atomic<bool> is_read = false;
  std::unique_ptr<FoldedJob> folded;     // once it is read
  std::shared_ptr<const Sketch> sketch;  // of the job before it rested; set on construction
  std::atomic<SteadyTime> asked_at = SteadyTime{};
  std::atomic<SteadyTime::duration> read_in{};         // how long it took
  std::atomic<SteadyTime> lacks_until = SteadyTime{};  // memory, for it to be read
  std::atomic<bool> is_forgotten = false;

  std::mutex set_aside_mutex;
  std::string set_aside;                   // why; empty: it is not
  std::optional<SteadyTime> read_anew_at;  // the failure may be over then
  bool is_set_aside_for_now = false;       // the database lacked memory; it is read again

  std::mutex cache_mutex;  // also keeps several callers from computing the same diagnosis
  std::shared_ptr<const Diagnosis> cached;
  std::weak_ptr<const Diagnosis> judged;        // whose findings are stored
  std::atomic<std::optional<Verdict>> verdict;  // of the last diagnosis; readable without a lock
  std::uint64_t cached_version = 0;
  std::uint64_t cached_catalog = 0;  // its version
  std::uint64_t cached_offences = 0;
  std::set<std::string, std::less<>> cached_live;
  std::set<std::string, std::less<>> cached_open;
  SteadyTime cached_at;
  // What the next diagnosis has to know of the cached one.
  std::map<std::string, Timestamp, std::less<>> suspected_since;
  std::set<std::string, std::less<>> told;
  std::set<std::string, std::less<>> wrong;  // that an operator called wrong

  std::mutex ends_mutex;
  std::map<std::string, Timestamp, std::less<>> read_to_the_end;  // sources, and as of when

  std::mutex offences_mutex;  // of other jobs, on the hosts of this one
  std::vector<PastOffence> offences;
  std::uint64_t offences_version = 0;        // 0: not asked for yet
  std::atomic<bool> lacks_offences = false;  // memory lacks for the jobs that would tell of them
  // How many hosts and reports there were when the store was asked; both only grow.
  std::size_t offences_hosts = 0;
  std::size_t offences_reports = 0;

  std::mutex hosts_mutex;
  std::shared_ptr<const HostViews> hosts;
  std::uint64_t hosts_version = 0;
  std::uint64_t hosts_catalog = 0;

  // Findings reach the store in the order of the states that they were read from.
  std::mutex reconcile_mutex;
  struct Judged {
    int attempt = 0;
    std::vector<Finding> findings;
    Standing standing;
    bool operator==(const Judged&) const = default;
  };
  std::atomic<std::size_t> kept_bytes = 0;           // size of its packed calls, when last kept
  std::atomic<std::uint64_t> spared_events = 0;      // superseded, but not dropped: they are needed
  std::optional<Judged> reconciled;                  // as the store has it
  std::set<std::pair<std::string, Cause>> offended;  // part and class
  Pace pace;                                         // of reconciling
  std::atomic<bool> is_due = false;                  // to be reconciled
};

}  // namespace faultline
