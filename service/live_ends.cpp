// LiveJobs: reads sources to their ends once nothing has come from them for long.
#include "ingest/reader.h"
#include "service/asked_lines.h"
#include "service/clock.h"
#include "service/live_job.h"
#include "service/read_commit.h"
#include "service/resend_filter.h"

namespace faultline {

// Returns the version of the job at which all sources are read to their ends; nothing if more came
// meanwhile.
std::optional<std::uint64_t> LiveJobs::read_all_to_their_ends(Job& job) {
  constexpr int kTries = 3;
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t version = job.read().version();
    if (read_to_the_end(job) && job.read().version() == version) return version;
  }
  return std::nullopt;
}

// The end of a source may wait for more: a report for its next line. Once nothing has come for
// long, it is read as it stands. Returns false if some of it has to be tried again. Asks the store,
// so the job's state must not be locked.
bool LiveJobs::read_to_the_end(Job& job) {
  struct Ended {
    std::string name;
    Timestamp received;
  };
  std::vector<Ended> ended;
  const std::set<std::string, std::less<>> open = open_sources_.open(job.name);
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
  // Sources that cannot be read to their end now, or whose end could not be stored, are tried
  // again.
  bool is_all_read = true;
  std::map<std::string, std::shared_ptr<std::atomic<bool>>> failed;
  for (const Ended& source : ended) {
    const auto lease = open_sources_.take_if_free(job.name, source.name, [] {});
    if (!lease) {
      is_all_read = false;
      continue;
    }
    const std::optional<StoredSource> stored = settled_source(job.name, source.name);
    job.read_to_the_end[source.name] = source.received;
    if (!stored || stored->position.carry.empty()) continue;
    const SourcePosition& at = stored->position;
    Reader reader({at.offset, at.lines, at.carry}, utc_now(),
                  std::make_shared<const AskedLines>(catalog_));
    if (keeps_lines()) reader.keep_lines();
    reader.close();
    Commit commit = take_commit(reader, stored->source, at.carry);
    commit.position.recent = at.recent;
    if (commit.batch.lines == 0 && commit.batch.facts() == 0) continue;
    commit.fingerprint.from_offset = commit.fingerprint.to_offset = at.offset;
    commit.fingerprint.digest = commit.fingerprint.head_digest = digest_of({});
    commit.received = source.received;  // no bytes came just now
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

}  // namespace faultline
