#include "store/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <mutex>
#include <utility>

#include "logging/log.h"
#include "model/independent_steps.h"
#include "store/batch_codec.h"
#include "store/batches.h"
#include "store/compressed.h"
#include "store/finding_parts.h"
#include "store/findings.h"
#include "store/kept_calls.h"
#include "store/kept_lines.h"
#include "store/open.h"
#include "store/outbox.h"
#include "store/room.h"
#include "store/sources.h"
#include "store/sqlite.h"
#include "store/writer.h"

namespace faultline {
namespace {

std::uint64_t size_of(const std::filesystem::path& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  return error ? 0 : size;
}

}  // namespace

class Store::Impl {
 public:
  explicit Impl(const std::filesystem::path& file)
      : room_(std::filesystem::absolute(file).parent_path(), [this] { return reusable_bytes(); }),
        lock_(file),
        writing_(open_for_writing(file)),
        reading_(open_for_reading(file)),
        writer_(*writing_) {}

  // Runs a query on the connection for reading.
  template <class Ask>
  auto read(Ask&& ask) {
    const std::lock_guard lock(reading_mutex_);
    return ask(*reading_);
  }

  // Lends a connection for reading that nobody else uses until it is given back. A caller does not
  // give back one that failed.
  std::unique_ptr<Database> lend_connection() {
    {
      const std::lock_guard lock(spare_mutex_);
      if (spare_) return std::move(spare_);
    }
    return open_for_reading(file());
  }

  void give_back(std::unique_ptr<Database> connection) {
    const std::lock_guard lock(spare_mutex_);
    spare_ = std::move(connection);
  }

  // Writes in turn with the commits and waits for the disk.
  template <class Write>
  auto write(Write&& write) {
    using Answer = decltype(write(*writing_));
    Answer answer{};
    // Shared, because the writer's thread is still inside it when this one is woken.
    const auto finished = std::make_shared<std::promise<void>>();
    writer_.submit({.write = [&](Database& database) { answer = write(database); },
                    .done =
                        [finished](const std::exception_ptr& failure) {
                          failure ? finished->set_exception(failure) : finished->set_value();
                        }});
    finished->get_future().get();
    return answer;
  }

  // The same for findings: it uses the routing, and calls the listener afterwards.
  template <class Write>
  auto change(Write&& change) {
    auto answer = write([&](Database& database) { return change(database, routing_); });
    if (listener_) listener_();
    return answer;
  }

  // Deletes the batches of deleted jobs one by one, after deleting several at once failed. A batch
  // on a damaged page stays, with its source: nobody sees it, and nobody else has to wait for it.
  void delete_what_can_be(std::string why) {
    constexpr std::size_t kMostFailures = 100;
    std::size_t failed = 0;
    try {
      for (const std::int64_t batch : read(forgotten_batches)) {
        try {
          write([&](Database& database) {
            delete_batch(database, batch);
            return true;
          });
        } catch (const std::exception& error) {
          why = error.what();
          if (++failed == kMostFailures) break;
        }
      }
      write([](Database& database) {
        delete_forgotten_sources(database);
        return true;
      });
    } catch (const std::exception& error) {
      why = error.what();
    }
    say(LogLevel::warning, "not-deleted",
        "part of what was stored of deleted jobs could not be deleted; it is tried again at the "
        "next start",
        {{"batches", std::to_string(failed)}, {"why", why}});
  }

  void set_routing(AlertRouting routing) { routing_ = std::move(routing); }
  void on_change(std::function<void()> listener) { listener_ = std::move(listener); }

  Writer& writer() { return writer_; }
  Room& room() { return room_; }
  void expect_room() const {
    if (const auto lack = room_.lack()) throw StoreFull(*lack);
  }
  const std::filesystem::path& file() const { return writing_->file(); }

  // Of deleted data: new data takes them before the file grows.
  std::uint64_t reusable_bytes() {
    return read([](Database& database) {
      return static_cast<std::uint64_t>(database.number("PRAGMA freelist_count") *
                                        database.number("PRAGMA page_size"));
    });
  }

 private:
  Room room_;
  StoreLock lock_;
  std::unique_ptr<Database> writing_;
  std::mutex reading_mutex_;
  std::unique_ptr<Database> reading_;
  std::mutex spare_mutex_;
  std::unique_ptr<Database> spare_;
  AlertRouting routing_;  // set before anything is written
  std::function<void()> listener_;
  Writer writer_;  // last, so that it has done everything before its database closes
};

Store::Store(const std::filesystem::path& file) {
  provide_folder(file);
  impl_ = std::make_unique<Impl>(file);
}

Store::~Store() = default;

void Store::submit(Commit commit, Done done) {
  // Encode on the caller's thread, because all callers share the one that writes.
  std::string content = encode_batch(commit.batch);
  std::string lines;
  if (!commit.kept_lines.empty())
    lines = compressed(std::exchange(commit.kept_lines, std::string()));
  StoredCarry carry(std::exchange(commit.position.carry, std::string()));
  std::size_t bytes = content.size() + lines.size() + carry.bytes().size();
  for (const Event& event : commit.batch.events) bytes += sizeof(Event) + event.text.size();
  std::string job = commit.source.job;
  const auto shared = std::make_shared<Commit>(std::move(commit));
  impl_->writer().submit(
      {.write =
           [this, shared, content = std::move(content), lines = std::move(lines),
            carry = std::move(carry)](Database& database) {
             impl_->expect_room();
             const AdvancedSource source = advance_source(database, *shared, carry);
             shared->number = insert_batch(database, source.id, *shared, content);
             if (shared->keeps_lines) keep_lines(database, source, *shared, lines);
           },
       .done = [shared, done = std::move(done)](
                   std::exception_ptr failure) { done(shared, std::move(failure)); },
       .bytes = bytes,
       .job = std::move(job)});
}

std::size_t Store::pending() const { return impl_->writer().pending(); }
std::uint64_t Store::transactions() const { return impl_->writer().transactions(); }
void Store::drain() { impl_->writer().drain(); }

std::vector<StoredJob> Store::jobs() { return impl_->read(select_jobs); }

std::optional<StoredSource> Store::source(std::string_view job, std::string_view name) {
  return impl_->read([&](Database& database) { return select_source(database, job, name); });
}

std::vector<StoredSource> Store::sources(std::string_view job) {
  return impl_->read([&](Database& database) { return select_sources(database, job); });
}

std::vector<HeldBlock> Store::body_starts(std::string_view job, std::string_view source,
                                          std::size_t at_most) {
  return impl_->read(
      [&](Database& database) { return select_body_starts(database, job, source, at_most); });
}

std::optional<Fingerprint> Store::last_block(std::string_view job, std::string_view source) {
  return impl_->read([&](Database& database) { return select_last_block(database, job, source); });
}

std::vector<HeldBlock> Store::blocks_after(std::string_view job, std::string_view source,
                                           std::int64_t batch) {
  return impl_->read(
      [&](Database& database) { return select_blocks_after(database, job, source, batch); });
}

std::vector<NumberedSource> Store::numbered_sources(std::string_view job, std::string_view name) {
  return impl_->read(
      [&](Database& database) { return select_numbered_sources(database, job, name); });
}

std::vector<DamagedSource> Store::replay(
    std::string_view job, const std::function<void(std::string_view packed)>& take_calls,
    const std::function<void(const StoredBatch&)>& visit) {
  // Uses its own connection: a replay may take minutes, and others read meanwhile.
  std::unique_ptr<Database> database = impl_->lend_connection();
  std::vector<DamagedSource> damaged = replay_batches(*database, job, take_calls, visit);
  impl_->give_back(std::move(database));
  return damaged;
}

void Store::keep_calls(std::string_view job, std::int64_t through, std::string_view packed,
                       const std::function<bool()>& wanted) {
  if (packed.size() > kMostKeptCallsBytes)
    throw StoreError(fmt::format("the result of the calls of job {} is too large to store", job));
  const std::string content = compressed(packed);
  impl_->write([&](Database& database) {
    impl_->expect_room();
    if (wanted()) put_kept_calls(database, job, through, content);
    return true;
  });
}

std::vector<std::string> Store::jobs_with_kept_calls_to_drop() {
  return impl_->read(select_jobs_with_kept_calls_to_drop);
}

void Store::drop_kept_calls(std::string_view job, const std::atomic<bool>* stop) {
  constexpr std::size_t kBatchesAtOnce = 128;  // all other writes wait meanwhile
  std::optional<std::int64_t> source = 0;
  while (source && (stop == nullptr || !*stop))
    source = impl_->write([&](Database& database) {
      impl_->expect_room();
      DroppedCalls dropped{.next_source = source};
      for (std::size_t batches = 0; dropped.next_source && batches < kBatchesAtOnce;
           batches += dropped.batches)
        dropped = drop_some_calls(database, job, *dropped.next_source);
      return dropped.next_source;
    });
}

void Store::drop_events(const std::vector<EventsOfBatch>& events,
                        const std::function<bool()>& wanted) {
  impl_->write([&](Database& database) {
    impl_->expect_room();
    if (wanted())
      for (const EventsOfBatch& of_batch : events) delete_events(database, of_batch);
    return true;
  });
}

std::size_t Store::walk_kept_lines(std::string_view job, std::string_view source,
                                   const std::function<void(const KeptLines&)>& on_lines,
                                   const std::function<void(const StoredBatch&)>& on_batch) {
  std::unique_ptr<Database> database = impl_->lend_connection();
  const std::size_t damaged =
      faultline::walk_kept_lines(*database, job, source, on_lines, on_batch);
  impl_->give_back(std::move(database));
  return damaged;
}

bool Store::visit_kept_lines(std::string_view job, std::string_view source, const LineRange& wanted,
                             const std::function<void(const KeptLines&)>& visit) {
  std::unique_ptr<Database> database = impl_->lend_connection();
  const bool has_all = faultline::visit_kept_lines(*database, job, source, wanted, visit);
  impl_->give_back(std::move(database));
  return has_all;
}

void Store::replace_batches(const std::vector<ChangedBatch>& changed,
                            const std::function<bool()>& wanted) {
  // Encode on the caller's thread, because all callers share the one that writes.
  std::vector<std::string> contents;
  for (const ChangedBatch& batch : changed) contents.push_back(encode_batch(batch.batch));
  impl_->write([&](Database& database) {
    impl_->expect_room();
    if (wanted())
      for (std::size_t i = 0; i < changed.size(); ++i)
        replace_batch(database, changed[i], contents[i]);
    return true;
  });
}

// Drops some at a time, so that others can write in between.
void Store::drop_old_lines(std::uint64_t least,
                           const std::function<std::uint64_t(std::string_view job)>& most_of_job) {
  const auto over =
      impl_->read([&](Database& database) { return select_kept_of_jobs(database, least); });
  IndependentSteps jobs;
  const auto drop_of = [&](const KeptOfJob& job, std::uint64_t most) {
    // Drops more than necessary, so that it need not be done again soon.
    const std::uint64_t surplus = job.bytes - most + most / 4;
    const std::int64_t last = impl_->read(
        [&](Database& database) { return last_of_oldest_kept_lines(database, job.job, surplus); });
    for (std::optional<std::int64_t> from = 0; from;)
      from = impl_->write([&](Database& database) {
        return delete_some_kept_lines(database, job.job, *from, last);
      });
  };
  for (const KeptOfJob& job : over)
    if (const std::uint64_t most = most_of_job(job.job); job.bytes > most)
      jobs.run([&] { drop_of(job, most); });
  jobs.end();
}

bool Store::has_room() { return !impl_->room().lack(); }

bool Store::delete_job(std::string_view job, Timestamp now, std::optional<Timestamp> unless_after) {
  const bool known = impl_->change([&](Database& database, const AlertRouting& routing) {
    if (unless_after && was_received_after(database, job, *unless_after)) return false;
    delete_kept_calls(database, job);
    if (!forget_sources(database, job)) return false;
    reconcile(database, job, 0, {}, now, {.over = true}, routing);
    return true;
  });
  if (known) finish_deleting();
  return known;
}

// Deletes some at a time, so that others can write in between.
std::uint64_t Store::delete_findings_ended(Timestamp before) {
  std::uint64_t deleted = 0;
  for (std::uint64_t last = 1; last > 0; deleted += last)
    last = impl_->write([&](Database& database) { return delete_some_ended(database, before); });
  return deleted;
}

void Store::finish_deleting() {
  try {
    while (impl_->write([](Database& database) { return delete_some_batches(database); })) {
    }
  } catch (const std::exception& error) {
    impl_->delete_what_can_be(error.what());
  }
}

std::size_t Store::reconcile_findings(std::string_view job, int attempt,
                                      const std::vector<Finding>& found, Timestamp now,
                                      const Standing& standing) {
  return impl_->change([&](Database& database, const AlertRouting& routing) {
    return reconcile(database, job, attempt, found, now, standing, routing);
  });
}

FindingPage Store::findings(const FindingFilter& filter) {
  return impl_->read([&](Database& database) { return select_findings(database, filter); });
}

std::optional<StoredFinding> Store::review_finding(std::string_view id, const Review& said,
                                                   Timestamp now) {
  return impl_->change([&](Database& database, const AlertRouting& routing) {
    return review(database, id, said, now, routing);
  });
}

std::vector<PastReview> Store::reviews_of(std::string_view id) {
  return impl_->read([&](Database& database) { return select_reviews(database, id); });
}

std::vector<FindingTally> Store::finding_tallies() { return impl_->read(select_finding_tallies); }

std::vector<ReviewTally> Store::review_tallies() { return impl_->read(select_review_tallies); }

std::uint64_t Store::last_change() { return impl_->read(select_last_change); }

void Store::set_routing(AlertRouting routing) { impl_->set_routing(std::move(routing)); }

void Store::on_change(std::function<void()> listener) { impl_->on_change(std::move(listener)); }

std::vector<WaitingGroup> Store::waiting_groups(std::string_view receiver) {
  return impl_->read([&](Database& database) { return select_waiting_groups(database, receiver); });
}

std::vector<OutboxRow> Store::begin_delivery(std::string_view receiver, std::string_view group,
                                             Timestamp now) {
  return impl_->write([&](Database& database) {
    return faultline::begin_delivery(database, receiver, group, now);
  });
}

void Store::end_delivery(const std::vector<std::int64_t>& rows, DeliveryOutcome outcome,
                         Timestamp now) {
  impl_->write([&](Database& database) {
    faultline::end_delivery(database, rows, outcome, now);
    return true;
  });
}

std::vector<OutboxRow> Store::standing_rows(std::string_view receiver, Timestamp resolved_since) {
  return impl_->read(
      [&](Database& database) { return select_standing_rows(database, receiver, resolved_since); });
}

std::vector<std::string> Store::hosts_with_findings() {
  return impl_->read(select_hosts_with_findings);
}

std::vector<HostFinding> Store::findings_of_host(std::string_view host, std::size_t limit) {
  return impl_->read(
      [&](Database& database) { return select_findings_of_host(database, host, limit); });
}

std::map<std::string, HostTally> Store::tallies(const std::vector<std::string>& hosts) {
  return impl_->read([&](Database& database) { return select_tallies(database, hosts); });
}

std::vector<Offence> Store::gpu_offences(const std::vector<std::string>& hosts) {
  return impl_->read([&](Database& database) { return select_gpu_offences(database, hosts); });
}

std::vector<Offence> Store::other_offences(const std::vector<std::string>& hosts) {
  return impl_->read([&](Database& database) { return select_other_offences(database, hosts); });
}

void Store::set_least_room(std::uint64_t bytes) { impl_->room().set_least(bytes); }
std::uint64_t Store::least_room() const { return impl_->room().least(); }

void Store::probe() {
  impl_->expect_room();
  impl_->write([](Database& database) {
    database.run("UPDATE probe SET count = count + 1");
    return true;
  });
}

std::uint64_t Store::bytes_in_use() {
  return impl_->read([](Database& database) {
    const std::int64_t pages =
        database.number("PRAGMA page_count") - database.number("PRAGMA freelist_count");
    return static_cast<std::uint64_t>(pages * database.number("PRAGMA page_size"));
  });
}

std::uint64_t Store::reusable_bytes() { return impl_->reusable_bytes(); }

std::uint64_t Store::bytes_on_disk() const {
  const std::string file = impl_->file().string();
  return size_of(file) + size_of(file + "-wal") + size_of(file + "-shm");
}

}  // namespace faultline
