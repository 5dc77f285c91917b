// Threads: where what computes or waits for the disk runs, so that those of sockets never do.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "service/clock.h"

namespace faultline {

// Work that asks of one job, or writes to it, takes turns: a slow job holds up itself alone.
class Turns {
 public:
  explicit Turns(boost::asio::thread_pool& pool) : pool_(pool) {}

  boost::asio::any_io_executor of(const std::string& job) {
    const std::lock_guard lock(mutex_);
    // Whoever works keeps the turns alive; forgetting them costs no more than some order.
    if (turns_.size() >= kMost) turns_.clear();
    return turns_.try_emplace(job, pool_.get_executor()).first->second;
  }

 private:
  static constexpr std::size_t kMost = 4096;

  using Strand = boost::asio::strand<boost::asio::thread_pool::executor_type>;

  boost::asio::thread_pool& pool_;
  std::mutex mutex_;
  std::map<std::string, Strand> turns_;
};

// Pieces of bodies that take long, since they inflate to very much. Each keeps the thread that it
// is read on, so few may: of more than that the one that has taken most ends.
class LongReads {
 public:
  static constexpr std::size_t kMost = 8;
  // Others, whose threads are never kept for long.
  static constexpr std::size_t kMostShort = 16;

  // What one piece takes of its thread, while this lives. Used by that thread alone.
  class Turn {
   public:
    enum class May { go_on, stop_for_others, stop_for_good };

    explicit Turn(LongReads& all) : all_(all) {}
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    May next();

   private:
    friend class LongReads;

    LongReads& all_;
    const SteadyTime begun_ = steady_now();
    const std::chrono::nanoseconds cpu_before_ = processor_time();
    std::atomic<std::chrono::nanoseconds> cpu_{std::chrono::nanoseconds{0}};
    std::atomic<bool> has_place_{false};
    bool is_long_ = false;
  };

  void stop() { stopping_ = true; }

 private:
  bool give_place(Turn& turn);

  std::mutex mutex_;
  std::vector<Turn*> running_;
  std::atomic<bool> stopping_{false};
};

class Threads {
 public:
  // Bodies are unpacked and read here.
  boost::asio::any_io_executor parsing() { return parsing_.get_executor(); }
  LongReads& long_reads() { return long_reads_; }
  // One thread that nobody else keeps busy: whoever restarts what does not answer asks here.
  boost::asio::any_io_executor health() { return health_.get_executor(); }
  // What concerns no job, or all of them.
  boost::asio::any_io_executor answering() { return answering_.get_executor(); }
  boost::asio::any_io_executor answering(const std::string& job) { return turns_.of(job); }

  void join() {
    parsing_.join();
    health_.join();
    answering_.join();
  }

 private:
  // They wait for the disk or compute a diagnosis; of several jobs at once.
  static constexpr std::size_t kAnswering = 32;

  LongReads long_reads_;
  boost::asio::thread_pool parsing_{LongReads::kMost + LongReads::kMostShort};
  boost::asio::thread_pool health_{1};
  boost::asio::thread_pool answering_{kAnswering};
  Turns turns_{answering_};
};

}  // namespace faultline
