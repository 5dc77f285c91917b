#include "store/writer.h"

#include <chrono>
#include <vector>

namespace faultline {
namespace {

// If nothing was written for this long, the log is folded into the database and emptied.
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
  // Everything that allocates comes first: if memory runs out, the deed is refused and not done.
  std::list<Waiting> one;
  one.push_back({std::move(deed), 0});
  std::map<std::string, std::list<Waiting>> lane;
  lane.try_emplace(one.front().deed.job);
  {
    const std::lock_guard lock(mutex_);
    unfinished_.insert(submitted_ + 1);
    one.front().number = ++submitted_;
    waiting_.merge(lane);
    std::list<Waiting>& of_job = waiting_.find(one.front().deed.job)->second;
    of_job.splice(of_job.end(), one);
  }
  changed_.notify_all();
}

void Writer::drain() {
  std::unique_lock lock(mutex_);
  const std::uint64_t last = submitted_;
  changed_.wait(lock, [&] { return unfinished_.empty() || *unfinished_.begin() > last; });
}

std::size_t Writer::pending() const {
  const std::lock_guard lock(mutex_);
  return unfinished_.size();
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
    std::vector<std::uint64_t> numbers;
    for (std::size_t i = 0; i < group.deeds.size(); ++i) {
      group.deeds[i].deed.done(group.failures[i]);
      numbers.push_back(group.deeds[i].number);
    }
    group = {};  // what the deeds held is released before drain() returns
    {
      const std::lock_guard lock(mutex_);
      for (const std::uint64_t number : numbers) unfinished_.erase(number);
    }
    changed_.notify_all();
  }
}

// Waits for deeds. An empty group means that it is time to stop.
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
  for (std::size_t bytes = 0; !waiting_.empty() && bytes < kMaxGroupBytes;) {
    auto next = waiting_.upper_bound(last_served_);
    if (next == waiting_.end()) next = waiting_.begin();
    last_served_ = next->first;
    bytes += next->second.front().deed.bytes;
    group.deeds.push_back(std::move(next->second.front()));
    next->second.pop_front();
    if (next->second.empty()) waiting_.erase(next);
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
        group.deeds[i].deed.write(database_);
        part.keep();
      } catch (...) {
        group.failures[i] = std::current_exception();
        if (!database_.in_transaction()) throw;  // SQLite gave up all of it; most likely, the disk
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
  // If it fails, nothing is lost: the log stays, and the next commit that fails says why.
  database_.attempt("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace faultline
