// Store: all that outlives a restart, in one SQLite file. Threads may share it: writing has one
// connection; reading has its own and never waits for writing.
//
// Throws StoreError if the database cannot be reached or refuses. A job that it does not know gives
// an empty answer.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/batch.h"
#include "model/finding.h"
#include "store/error.h"
#include "store/outbox_row.h"

namespace faultline {

// How far a source has been read: ingest's Cursor, kept opaque here.
struct SourcePosition {
  std::uint64_t offset = 0;
  std::uint64_t lines = 0;
  std::string carry;
  std::string recent;  // the service's, as opaque: of the lines that were pushed last
  bool operator==(const SourcePosition&) const = default;
};

struct StoredSource {
  Source source;
  SourcePosition position;
  std::uint64_t recognized = 0;
  std::uint64_t facts = 0;
  bool complete = false;  // the sender said final=true
  Timestamp last_received;
  std::uint64_t kept_to = 0;  // up to this offset its lines are kept, except calls
  bool operator==(const StoredSource&) const = default;
};

struct StoredJob {
  std::string name;
  Timestamp last_received;
  bool operator==(const StoredJob&) const = default;
};

// A source that was acknowledged, but cannot be read back completely.
struct DamagedSource {
  std::string name;
  std::string how;
  bool for_lack_of_memory = false;  // the data may be whole
};

// Identifies the bytes from which a batch was read, so that they are recognised if sent again.
struct Fingerprint {
  std::uint64_t from_offset = 0;
  std::uint64_t to_offset = 0;
  std::uint64_t digest = 0;       // XXH3-64 of exactly these bytes
  std::uint64_t head_digest = 0;  // of the first min(256, size) of them
  bool starts_body = false;       // a sender's body began with this batch
  bool operator==(const Fingerprint&) const = default;
};

// A stored fingerprint and the number of its batch. The numbers of a source's batches grow.
struct HeldBlock {
  std::int64_t batch = 0;
  Fingerprint print;
  bool operator==(const HeldBlock&) const = default;
};

// A source and the blocks with which its bodies began.
struct NumberedSource {
  std::string name;
  std::vector<HeldBlock> starts;
};

// A batch and where its source stands after it: saved together or not at all.
struct Commit {
  Source source;
  Batch batch;
  SourcePosition position;
  Fingerprint fingerprint;
  bool complete = false;
  Timestamp received;
  std::int64_t number = 0;  // of its batch, once it is stored
  bool keeps_lines = false;
  std::string kept_lines;  // ingest's; empty: only calls were read
};

// The lines that were kept of a batch when it was committed.
struct KeptLines {
  std::int64_t batch = 0;
  std::uint64_t from_offset = 0;
  std::uint64_t to_offset = 0;
  std::uint64_t lines_before = 0;  // in the source
  bool follows = false;            // only calls lie between these lines and those kept before
  Timestamp received;
  std::string content;
};

// Numbers of lines of a source, around the one that is asked for.
struct LineRange {
  std::uint64_t first = 1;
  std::uint64_t line = 1;
  std::uint64_t last = 1;
};

// A batch that has changed because its lines were read again. `more_facts`: without the events that
// had been dropped and only come back.
struct ChangedBatch {
  std::int64_t number = 0;
  Batch batch;
  std::int64_t more_recognized = 0;
  std::int64_t more_facts = 0;
};

// Some events of a batch, by their `order`.
struct EventsOfBatch {
  std::int64_t batch = 0;
  std::vector<std::uint32_t> places;
};

// A batch as a replay gives it.
struct StoredBatch {
  std::int64_t number = 0;  // grows from commit to commit
  Source source;
  Batch batch;
  Timestamp received;
  bool calls_are_kept = false;  // their result was given before; the batch may still have them, too
};

// What a diagnosis makes of its findings, by their ids. A finding that is neither a cause nor a
// symptom is an observation.
struct Standing {
  std::set<std::string, std::less<>> blamed;  // held responsible, and not merely suspected
  std::set<std::string, std::less<>> causes;
  std::set<std::string, std::less<>> symptoms;
  bool over = false;  // the job has ended, and its findings with it
  bool operator==(const Standing&) const = default;
};

struct FindingFilter {
  std::string job;  // empty: any
  std::string id;
  std::string cause;
  std::optional<Severity> severity;
  std::optional<FindingState> state;
  std::string host;
  std::optional<int> rank;
  std::optional<Timestamp> since;  // last changed at or after
  std::size_t limit = 100;
  std::uint64_t after = 0;  // row number of the last one already seen
  bool by_change = false;   // in the order of their last changes; `after` is a change's number
};

struct FindingPage {
  std::vector<StoredFinding> findings;
  std::optional<std::uint64_t> next;  // pass as `after` for more
};

// A finding about a host, for the history of that host.
struct HostFinding {
  StoredFinding stored;
  bool blamed = false;  // by its job's diagnosis
};

// What an operator says of a finding. acknowledged: somebody works on it. wrong and closed end it;
// a closed one comes back when it is seen again.
enum class ReviewVerdict { acknowledged, wrong, closed, reopened };
BOOST_DESCRIBE_ENUM(ReviewVerdict, acknowledged, wrong, closed, reopened)

struct Review {
  ReviewVerdict verdict = ReviewVerdict::acknowledged;
  std::string who;
  std::string note;
};

// A review that was given, and when.
struct PastReview {
  std::string verdict;
  std::string who;
  std::string note;
  Timestamp time;
};

// All findings of a class and severity, for metrics.
struct FindingTally {
  std::string cause;
  Severity severity = Severity::info;
  std::uint64_t open = 0;
  std::uint64_t opened = 0;    // how often, over all time
  std::uint64_t resolved = 0;  // that are resolved now
  Timestamp last_changed;
};

struct ReviewTally {
  std::string cause;
  std::string verdict;
  std::uint64_t count = 0;
};

// How many findings a host has, by severity.
struct HostTally {
  std::array<std::uint64_t, 4> open{};
  std::array<std::uint64_t, 4> total{};
};

// A finding that blames a part of a host, or the host itself, for what happened to a job.
struct Offence {
  std::string host;
  std::string part;  // a GPU, 0000:3b:00.0; a port, mlx5_2:1; empty: the host itself
  StoredFinding stored;
};

class Store {
 public:
  // Opens or creates the file, checks it, brings its schema up to date. A file that is no database,
  // is damaged, is of a newer version or is in use by another process is refused with one clear
  // line (StoreError). Creates the file's folder if only that is missing.
  explicit Store(const std::filesystem::path& file);
  ~Store();

  using Done = std::function<void(const std::shared_ptr<const Commit>&, std::exception_ptr)>;

  // Queues a commit. `done` is called on the writer's thread, for each job in the order of
  // submission, once the commit is on the disk, or with the reason why it is not. Commits that wait
  // together share one fsync. Does not block: the caller limits how many may wait (see pending()).
  // `done` must not throw, nor wait for the store.
  //
  // A commit begins where its source stands (batch.from_offset is the stored offset; 0 for a new
  // source) or is refused with SourceMovedOn, so that no byte is ever stored twice or left out.
  // Throws StoreError at once if the batch is too large to store at all. If the disk has no room
  // for it, `done` gets StoreFull.
  void submit(Commit commit, Done done);
  std::size_t pending() const;

  // Returns when everything submitted is done.
  void drain();

  std::vector<StoredJob> jobs();  // by name
  std::optional<StoredSource> source(std::string_view job, std::string_view name);
  std::vector<StoredSource> sources(std::string_view job);  // without what they carry
  // The blocks with which bodies of the source began; and some of the blocks that follow a batch,
  // not all: a source may have a million.
  // `at_most`: only so many, the latest.
  std::vector<HeldBlock> body_starts(std::string_view job, std::string_view source,
                                     std::size_t at_most = SIZE_MAX);
  // Null: the source has none.
  std::optional<Fingerprint> last_block(std::string_view job, std::string_view source);
  std::vector<HeldBlock> blocks_after(std::string_view job, std::string_view source,
                                      std::int64_t batch);
  // The sources NAME, NAME#2, NAME#3, … of the job that there are, in this order.
  std::vector<NumberedSource> numbered_sources(std::string_view job, std::string_view name);

  // Visits every batch of the job, in the order of commits, one in memory at a time. Before them it
  // gives the kept calls, if there are any. Commits that come meanwhile may be left out. Both
  // functions may use the store. Returns the sources with damaged or missing batches; their other
  // batches are visited all the same.
  std::vector<DamagedSource> replay(std::string_view job,
                                    const std::function<void(std::string_view packed)>& take_calls,
                                    const std::function<void(const StoredBatch&)>& visit);

  // Stores the folded result of the job's calls, up to and including batch `through`, in place of
  // the calls. The other half of the work, and the longer one, is drop_kept_calls().
  // Stores nothing if the job is no longer `wanted` when its turn comes.
  void keep_calls(
      std::string_view job, std::int64_t through, std::string_view packed,
      const std::function<bool()>& wanted = [] { return true; });
  static constexpr std::size_t kMostKeptCallsBytes = std::size_t{512} << 20;  // more is refused
  std::vector<std::string> jobs_with_kept_calls_to_drop();
  void drop_kept_calls(std::string_view job, const std::atomic<bool>* stop = nullptr);

  // Drops events whose batches stand for what they came to without them: what a batch counts stays.
  // Drops all of these or none; none if the job is no longer `wanted` when its turn comes. All
  // other writes wait meanwhile, so give it few; those of a batch may be dropped in several calls.
  void drop_events(
      const std::vector<EventsOfBatch>& events,
      const std::function<bool()>& wanted = [] { return true; });

  // The kept lines of a source: see store/kept_lines.h. The functions may use the store.
  std::size_t walk_kept_lines(std::string_view job, std::string_view source,
                              const std::function<void(const KeptLines&)>& on_lines,
                              const std::function<void(const StoredBatch&)>& on_batch);
  // Visits the rows in which lines of this range may stand. False: some cannot be read.
  bool visit_kept_lines(std::string_view job, std::string_view source, const LineRange& wanted,
                        const std::function<void(const KeptLines&)>& visit);
  // Replaces all of them or none; none if the job is no longer `wanted` when its turn comes.
  void replace_batches(
      const std::vector<ChangedBatch>& changed,
      const std::function<bool()>& wanted = [] { return true; });
  // Drops the oldest lines of each job until it has at most `most_of_job` bytes. least: no job is
  // allowed fewer.
  void drop_old_lines(std::uint64_t least,
                      const std::function<std::uint64_t(std::string_view job)>& most_of_job);

  // Forgets the job: its sources, batches and events. Its findings end, and receivers that may have
  // heard of them are told. False: there is no such job, or something of it came after
  // `unless_after`.
  bool delete_job(std::string_view job, Timestamp now,
                  std::optional<Timestamp> unless_after = std::nullopt);

  // Deletes findings that ended before this time and whose jobs are gone. Returns how many.
  std::uint64_t delete_findings_ended(Timestamp before);

  // Deletes what is left of deleted jobs. What cannot be deleted, because the disk changed it, is
  // reported and stays.
  void finish_deleting();

  // Makes the stored findings of this job and attempt equal to these: new ones are opened, known
  // ones updated, missing ones resolved, those that come back reopened. Returns how many were
  // opened or reopened. Durable when it returns.
  // A finding of this attempt that is missing is no longer blamed; one of another attempt stays
  // blamed. The rows of the outbox are written in the same transaction.
  std::size_t reconcile_findings(std::string_view job, int attempt,
                                 const std::vector<Finding>& found, Timestamp now,
                                 const Standing& standing = {});
  FindingPage findings(const FindingFilter& filter);  // oldest first
  // Reviews the latest finding of this id, and returns it as it is then; nothing: there is none.
  std::optional<StoredFinding> review_finding(std::string_view id, const Review& review,
                                              Timestamp now);
  std::vector<PastReview> reviews_of(std::string_view id);  // of a finding, oldest first
  std::vector<FindingTally> finding_tallies();
  std::vector<ReviewTally> review_tallies();
  std::uint64_t last_change();  // of any finding; 0: there are none

  // set_routing: where findings are sent from now on. on_change: what to call, on any thread, when
  // findings have changed.
  void set_routing(AlertRouting routing);
  void on_change(std::function<void()> listener);

  // The outbox of one receiver.
  std::vector<WaitingGroup> waiting_groups(std::string_view receiver);
  // What to send of a group, the rows that wait first: of each alert the first row that waits and
  // is due, else the row that the receiver knows, if it fires. From now on the receiver counts as
  // having perhaps heard of them, until end_delivery() says otherwise.
  std::vector<OutboxRow> begin_delivery(std::string_view receiver, std::string_view group,
                                        Timestamp now);
  void end_delivery(const std::vector<std::int64_t>& rows, DeliveryOutcome outcome, Timestamp now);
  // What the receiver knows and is to be sent again: alerts that fire, or were resolved since.
  std::vector<OutboxRow> standing_rows(std::string_view receiver, Timestamp resolved_since);

  // The findings about machines (Trait::of_a_machine), across jobs.
  std::vector<std::string> hosts_with_findings();  // sorted
  std::vector<HostFinding> findings_of_host(std::string_view host,
                                            std::size_t limit);  // latest first
  std::map<std::string, HostTally> tallies(const std::vector<std::string>& hosts);
  // Findings that were blamed and name one GPU and no other; oldest first.
  std::vector<Offence> gpu_offences(const std::vector<std::string>& hosts);
  // The same of their ports, and of the hosts themselves.
  std::vector<Offence> other_offences(const std::vector<std::string>& hosts);

  // Logs are accepted only while this much is free on the disk; findings, reviews and alerts are
  // written even so.
  void set_least_room(std::uint64_t bytes);
  std::uint64_t least_room() const;

  bool has_room();

  // For /readyz: throws if there is no room, or a small write does not go through.
  void probe();
  std::uint64_t bytes_on_disk() const;
  std::uint64_t reusable_bytes();  // of deleted data: new data takes them before the file grows
  std::uint64_t
  bytes_in_use();  // without deleted pages, which are used again before the file grows
  std::uint64_t transactions() const;  // since the start: how well commits share them

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace faultline
