// Turns: which of the calls that wait for one pool of threads may have one. So many of one job or
// of one peer at a time; the others of that job or peer wait, and hold up nobody else.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "http/wakeup.h"

namespace faultline {

class Turns {
 private:
  struct Account {
    std::size_t running = 0;
    std::size_t users = 0;  // that run or wait
  };
  using Accounts = std::map<std::string, Account>;

 public:
  struct Limits {
    std::size_t of_job;
    std::size_t of_peer;
  };

  // Whose call it is. Empty: of none, and so without that limit.
  struct Claim {
    std::string job;
    std::string peer;
  };

  // A call runs while this lives.
  class Turn {
   public:
    Turn(Turns& turns, const Claim& claim);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    friend class Turns;

    Turns& turns_;
    Accounts::iterator job_;
    Accounts::iterator peer_;
    std::shared_ptr<Wakeup> wakeup_;  // of one that waits
    bool is_running_ = false;
  };

  explicit Turns(Limits limits) : limits_(limits) {}

  // Waits until the call may run.
  boost::asio::awaitable<std::unique_ptr<Turn>> take(Claim claim);

 private:
  bool has_room_for(const Turn& turn) const;
  void begin(Turn& turn);
  void end(Turn& turn);

  const Limits limits_;
  std::mutex mutex_;  // guards what follows, and the turns
  Accounts jobs_;
  Accounts peers_;
  std::list<Turn*> waiting_;
};

}  // namespace faultline
