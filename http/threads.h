// Threads: run all that computes or waits for the disk, so that the threads of sockets never do.
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "http/held_bodies.h"
#include "http/turns.h"
#include "service/clock.h"
#include "service/pool.h"

namespace faultline {

// Where a call runs, and on whose account.
struct Seat {
  boost::asio::any_io_executor threads;
  Turns* turns = nullptr;  // null: it need not wait for others
  Turns::Claim claim;
};

// Pieces of bodies that take long, because they unpack to very much. Each keeps its thread busy, so
// only a few may run: if there are more, the one that has taken most time ends.
class LongReads {
 public:
  static constexpr std::size_t kMost = 8;
  // Threads for other pieces, which never take long.
  static constexpr std::size_t kMostShort = 16;

  // Measures the time of one piece while this lives. Used only by the thread of the piece.
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
  Seat parsing(std::string_view job, std::string_view peer) {
    return {parsing(), &parsing_turns_, {std::string(job), std::string(peer)}};
  }
  LongReads& long_reads() { return long_reads_; }
  HeldBodies& held_bodies() { return held_bodies_; }
  // One thread for health checks, which nothing else keeps busy: a server that does not answer them
  // is restarted.
  boost::asio::any_io_executor health() { return health_.get_executor(); }
  boost::asio::any_io_executor answering() { return answering_.get_executor(); }
  // Requests about one job take turns, so that a slow job holds up only itself. `job` is empty for
  // those about no job, or about all jobs; `peer` for what the server does by itself.
  Seat answering(std::string_view job, std::string_view peer) {
    return {answering(), &answering_turns_, {std::string(job), std::string(peer)}};
  }

  void join() {
    parsing_.join();
    health_.join();
    answering_.join();
  }

 private:
  // They wait for the disk or compute a diagnosis; of several jobs at once.
  static constexpr std::size_t kAnswering = 32;
  static constexpr std::size_t kParsing = LongReads::kMost + LongReads::kMostShort;

  LongReads long_reads_;
  HeldBodies held_bodies_;
  Pool parsing_{kParsing};
  Pool health_{1};
  Pool answering_{kAnswering};
  // Nobody may have more than half of the threads, so that others find one.
  Turns parsing_turns_{{.of_job = kParsing / 2, .of_peer = kParsing / 2}};
  Turns answering_turns_{{.of_job = 1, .of_peer = kAnswering / 2}};
};

}  // namespace faultline
