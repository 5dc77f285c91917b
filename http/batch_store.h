// BatchStore: stores messages whose senders wait for no answer and do not send again. So what the
// store refuses now it is given again later.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <memory>
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
  // `wakeup`: what the coroutine that calls store() sleeps on.
  BatchStore(Services& services, Threads& threads, std::shared_ptr<Wakeup> wakeup)
      : services_(services), threads_(threads), wakeup_(std::move(wakeup)) {}

  // Returns when all is durable, or will never be.
  boost::asio::awaitable<void> store(const MessageBatch& batch);

  // The server ends: what the store does not take at once is lost, and counted.
  void stop() { stopping_ = true; }

 private:
  // Lines of one source that are not durable yet.
  struct Rest {
    const Destination* destination = nullptr;
    std::string_view lines;
    std::uint64_t messages = 0;
    // Of the attempt under way.
    std::shared_ptr<CommitTracker> tracker;
    std::shared_ptr<SourceLease> lease;
    std::uint64_t from_offset = 0;
    DoorLinesTaken taken;
  };

  boost::asio::awaitable<void> begin(Rest& rest, bool may_wait);
  boost::asio::awaitable<void> settle(Rest& rest);
  void take_off_what_is_durable(Rest& rest);
  void lose(Rest& rest, SyslogLoss why);

  Services& services_;
  Threads& threads_;
  std::shared_ptr<Wakeup> wakeup_;
  bool stopping_ = false;
  SteadyTime said_{};
};

}  // namespace faultline
