// Store: all that outlives a restart, in one SQLite file. Threads may share it: writing has one
// connection, reading has its own and never waits for writing.
//
// Throws StoreError when the database is out of reach or refuses; "no such job" is an empty answer.
#pragma once

#include <array>
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

namespace faultline {

// How far a source has been read: ingest's Cursor, kept opaque here.
struct SourcePosition {
  std::uint64_t offset = 0;
  std::uint64_t lines = 0;
  std::string carry;
  bool operator==(const SourcePosition&) const = default;
};

struct StoredSource {
  Source source;
  SourcePosition position;
  std::uint64_t recognized = 0;
  std::uint64_t facts = 0;
  bool complete = false;  // final=true was said
  Timestamp last_received;
  bool operator==(const StoredSource&) const = default;
};

// The bytes a batch was read from, so that the same bytes sent again are known.
struct Fingerprint {
  std::uint64_t from_offset = 0;
  std::uint64_t to_offset = 0;
  std::uint64_t digest = 0;       // XXH3-64 of exactly these bytes
  std::uint64_t head_digest = 0;  // of the first min(256, size) of them
  bool starts_body = false;       // a sender's body began with this batch
  bool operator==(const Fingerprint&) const = default;
};

// A batch and where its source stands after it: saved together or not at all.
struct Commit {
  Source source;
  Batch batch;
  SourcePosition position;
  Fingerprint fingerprint;
  bool complete = false;
  Timestamp received;
};

struct StoredFinding {
  Finding finding;
  std::string job;
  int attempt = 1;
  Timestamp opened;
  std::optional<Timestamp> resolved;
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
};

struct FindingPage {
  std::vector<StoredFinding> findings;
  std::optional<std::uint64_t> next;  // pass as `after` for more
};

// A finding that is about a host, as far as the host's own story goes.
struct HostFinding {
  StoredFinding stored;
  bool blamed = false;  // by its job's diagnosis
};

// How many findings a host has, by severity.
struct HostTally {
  std::array<std::uint64_t, 4> open{};
  std::array<std::uint64_t, 4> total{};
};

// A GPU, or another part of a host, was blamed for what became of a job.
struct GpuOffence {
  std::string host;
  std::string gpu;  // 0000:3b:00.0; of others the port, mlx5_2:1, or nothing: the host itself
  StoredFinding stored;
};

class Store {
 public:
  // Opens or creates the file, checks it, brings its schema up to date. A file that is no database,
  // is damaged, is of a newer version or is in use by another process is refused with one clear
  // line (StoreError). Creates the file's folder if only that is missing.
  explicit Store(const std::filesystem::path& file);
  ~Store();

  // Queues a commit. `done` is called on the writer's thread, in the order of submission, once the
  // commit is on the disk, or with the reason why it is not. Commits that wait together share one
  // fsync. Blocks nobody: how many may wait is the caller's business (see pending()). `done` must
  // not throw, nor wait for the store.
  //
  // A commit begins where its source stands (batch.from_offset is the stored offset; 0 for a new
  // source) or is refused with SourceMovedOn, so that no byte is ever stored twice or left out.
  // Throws StoreError at once if the batch is too large to store at all.
  void submit(Commit commit, std::function<void(const Commit&, std::exception_ptr)> done);
  std::size_t pending() const;

  // Everything submitted is done when it returns.
  void drain();

  std::vector<std::string> jobs();
  std::optional<StoredSource> source(std::string_view job, std::string_view name);
  std::vector<StoredSource> sources(std::string_view job);
  std::vector<Fingerprint> fingerprints(std::string_view job, std::string_view source);

  // Every batch ever committed, in the order of commits, one in memory at a time. What is committed
  // after it began may be left out. `visit` may use the store.
  void replay(const std::function<void(const Source&, const Batch&, Timestamp received)>& visit);

  // Makes the stored findings of this job and attempt equal to these: new ones are opened, known
  // ones updated, missing ones resolved, those that come back reopened. Returns how many were
  // opened or reopened. Durable when it returns.
  // blamed: the ids of those that the diagnosis holds responsible. A finding of this attempt that
  // is missing is blamed no longer; what was blamed in another attempt stays so.
  std::size_t reconcile_findings(std::string_view job, int attempt,
                                 const std::vector<Finding>& found, Timestamp now,
                                 const std::set<std::string, std::less<>>& blamed = {});
  FindingPage findings(const FindingFilter& filter);  // oldest first

  // Of findings that tell of a machine (model/cause.h), across jobs.
  std::vector<std::string> hosts_with_findings();  // sorted
  std::vector<HostFinding> findings_of_host(std::string_view host,
                                            std::size_t limit);  // latest first
  std::map<std::string, HostTally> tallies(const std::vector<std::string>& hosts);
  // Findings that were blamed and name one GPU and no other; oldest first.
  std::vector<GpuOffence> offences(const std::vector<std::string>& hosts);
  // The same of their ports, and of the hosts themselves.
  std::vector<GpuOffence> other_offences(const std::vector<std::string>& hosts);

  // For /readyz: throws if a small write does not go through.
  void probe();
  std::uint64_t bytes_on_disk() const;
  std::uint64_t transactions() const;  // since the start: how well commits share them

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace faultline
