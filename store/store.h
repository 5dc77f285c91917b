// Store: all that outlives a restart, in one SQLite file. Threads may share it: writing has one
// connection, reading has its own and never waits for writing.
//
// Throws StoreError when the database is out of reach or refuses; "no such job" is an empty answer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model/batch.h"
#include "model/finding.h"

namespace faultline {

struct StoreError : std::runtime_error {
  using runtime_error::runtime_error;
};

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
};

// The bytes a batch was read from, so that the same bytes sent again are known.
struct Fingerprint {
  std::uint64_t from_offset = 0;
  std::uint64_t to_offset = 0;
  std::uint64_t digest = 0;       // XXH3-64 of exactly these bytes
  std::uint64_t head_digest = 0;  // of the first min(256, size) of them
  bool starts_body = false;       // a sender's body began with this batch
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

class Store {
 public:
  // Opens or creates the file, checks it, brings its schema up to date. A file that is no database,
  // is damaged, is of a newer version or is in use by another process is refused with one clear
  // line.
  explicit Store(const std::filesystem::path& file);
  ~Store();

  // Queues a commit. `done` is called on the writer's thread, in the order of submission, once the
  // commit is on the disk, or with the reason why it is not. Commits that wait together share one
  // fsync. Blocks nobody: how many may wait is the caller's business (see pending()).
  void submit(Commit commit, std::function<void(const Commit&, std::exception_ptr)> done);
  std::size_t pending() const;

  // Everything submitted is done when it returns.
  void drain();

  std::vector<std::string> jobs();
  std::optional<StoredSource> source(std::string_view job, std::string_view name);
  std::vector<StoredSource> sources(std::string_view job);
  std::vector<Fingerprint> fingerprints(std::string_view job, std::string_view source);

  // Every batch ever committed, in the order of commits.
  void replay(const std::function<void(const Source&, const Batch&, Timestamp received)>& visit);

  // Makes the stored findings of this job and attempt equal to these: new ones are opened, known
  // ones updated, missing ones resolved. Returns how many were opened. Durable when it returns.
  std::size_t reconcile_findings(std::string_view job, int attempt,
                                 const std::vector<Finding>& found, Timestamp now);
  FindingPage findings(const FindingFilter& filter);

  // For /readyz: throws if a small write does not go through.
  void probe();
  std::uint64_t bytes_on_disk() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace faultline
