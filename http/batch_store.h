// BatchStore: stores messages whose senders wait for no answer and do not send again. So what the
// store refuses now it is given again later.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "http/door_lines.h"
#include "http/message_basket.h"
#include "http/threads.h"
#include "http/wakeup.h"
#include "service/file_stream.h"
#include "service/services.h"

namespace faultline {

class BatchStore {
 public:
  // On `strand`. `wakeup`: what the coroutine that calls store() sleeps on.
  BatchStore(const boost::asio::any_io_executor& strand, Services& services, Threads& threads,
             std::shared_ptr<Wakeup> wakeup)
      : services_(services), threads_(threads), wakeup_(std::move(wakeup)), pause_(strand) {}

  // Returns when all is durable, or will never be.
  boost::asio::awaitable<void> store(const MessageBatch& batch);

  // The server ends: what the store does not take at once is lost, and counted.
  void stop();

 private:
  // Lines of one source that are not durable yet.
  struct Rest {
    const Destination* destination = nullptr;
    std::string_view lines;
    std::uint64_t messages = 0;
    int waits = 0;  // for a job that is set aside for a moment
    // Of the attempt under way.
    std::shared_ptr<CommitTracker> tracker;
    std::shared_ptr<SourceLease> lease;
    std::uint64_t from_offset = 0;
    DoorLinesTaken taken;
  };

  boost::asio::awaitable<void> begin(Rest& rest);
  boost::asio::awaitable<void> try_to_begin(Rest& rest);
  boost::asio::awaitable<void> settle(Rest& rest);
  void take_off_what_is_durable(Rest& rest);
  void lose(Rest& rest, SyslogLoss why);
  void complain(std::string_view why);
  boost::asio::awaitable<void> pause();
  void judge_beside(const std::string& job);

  Services& services_;
  Threads& threads_;
  std::shared_ptr<Wakeup> wakeup_;
  boost::asio::steady_timer pause_;  // between two attempts
  bool stopping_ = false;
  std::atomic<SteadyTime> said_{SteadyTime{}};
};

}  // namespace faultline
