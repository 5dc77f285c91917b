#include "store/writer.h"

#include <chrono>

namespace faultline {
namespace {

// When nothing was written for so long, the log is folded into the database and cut to nothing.
constexpr std::chrono::seconds kIdle{2};

}  // namespace

Writer::Writer(Database& database) : database_(database), thread_([this] { run(); }) {}

Writer::~Writer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Writer::submit(Deed deed) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(deed));
    ++submitted_;
  }
  changed_.notify_all();
}

void Writer::drain() {
  std::unique_lock lock(mutex_);
  const std::uint64_t last = submitted_;
  changed_.wait(lock, [&] { return done_ >= last; });
}

std::size_t Writer::pending() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(submitted_ - done_);
}

std::uint64_t Writer::transactions() const {
  const std::lock_guard lock(mutex_);
  return transactions_;
}

void Writer::run() {
  for (;;) {
    Group group = next_group();
    if (group.deeds.empty()) return;
    write(group);
    const std::size_t deeds = group.deeds.size();
    for (std::size_t i = 0; i < deeds; ++i) group.deeds[i].done(group.failures[i]);
    group = {};  // whoever waits in drain() may rely on what the deeds held being let go
    {
      const std::lock_guard lock(mutex_);
      done_ += deeds;
    }
    changed_.notify_all();
  }
}

// Waits for deeds; none means that it is time to stop.
Writer::Group Writer::next_group() {
  const auto something = [this] { return stopping_ || !waiting_.empty(); };
  std::unique_lock lock(mutex_);
  if (log_grew_ && !changed_.wait_for(lock, kIdle, something)) {
    lock.unlock();
    fold_log();
    lock.lock();
  }
  changed_.wait(lock, something);
  Group group;
  for (std::size_t bytes = 0; !waiting_.empty() && bytes < kMaxGroupBytes; waiting_.pop_front()) {
    bytes += waiting_.front().bytes;
    group.deeds.push_back(std::move(waiting_.front()));
  }
  return group;
}

void Writer::write(Group& group) {
  group.failures.resize(group.deeds.size());
  try {
    Transaction transaction(database_);
    for (std::size_t i = 0; i < group.deeds.size(); ++i) {
      try {
        Savepoint part(database_);
        group.deeds[i].write(database_);
        part.keep();
      } catch (...) {
        group.failures[i] = std::current_exception();
        if (!database_.in_transaction()) throw;  // SQLite gave up all of it: the disk, most likely
      }
    }
    transaction.commit();
    log_grew_ = true;
    const std::lock_guard lock(mutex_);
    ++transactions_;
  } catch (...) {
    for (std::exception_ptr& failure : group.failures)
      if (!failure) failure = std::current_exception();
  }
}

void Writer::fold_log() {
  log_grew_ = false;
  // Should it fail, nothing is lost: the log stays, and the next commit that fails says why.
  database_.attempt("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace faultline
