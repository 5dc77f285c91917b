// Writer: the one thread that writes. All deeds that wait when it becomes free share a transaction,
// and so one fsync; the more come at once, the less each costs. Jobs take turns, so that no job
// waits for everything that another has sent.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "store/sqlite.h"

namespace faultline {

class Writer {
 public:
  // One deed: all of it is written or nothing. Both functions are called on the writer's thread.
  struct Deed {
    // Throws to refuse; the other deeds of the transaction go on without it.
    std::function<void(Database&)> write;
    // Once it is on the disk, or with the reason why it is not. Deeds of one job are done in the
    // order of their submission. Must not throw.
    std::function<void(std::exception_ptr)> done;
    std::size_t bytes = 0;  // its size, roughly
    std::string job;        // empty: it belongs to no job
  };

  // A transaction is closed when it holds this much, so that the log beside the database stays
  // small and nobody waits long for an answer.
  static constexpr std::size_t kMaxGroupBytes = std::size_t{4} << 20;

  explicit Writer(Database& database);
  ~Writer();  // does everything that was submitted first
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void submit(Deed deed);
  void drain();  // returns when everything submitted before is done; not for use in a deed

  std::size_t pending() const;
  std::uint64_t transactions() const;  // that were committed

 private:
  struct Waiting {
    Deed deed;
    std::uint64_t number = 0;
  };

  // One transaction's deeds, and how each ended.
  struct Group {
    std::deque<Waiting> deeds;
    std::deque<std::exception_ptr> failures;
  };

  void run();
  Group next_group();
  void write(Group& group);
  void fold_log();

  Database& database_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::list<Waiting>> waiting_;  // by job; no list is empty
  std::string last_served_;                            // a job
  std::uint64_t submitted_ = 0;
  std::set<std::uint64_t> unfinished_;  // numbers
  std::uint64_t transactions_ = 0;
  bool stopping_ = false;
  bool log_grew_ = true;  // an earlier run may have left a log; used by the writer's thread only
  std::thread thread_;    // last: it uses the rest
};

}  // namespace faultline
