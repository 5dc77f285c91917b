// Wakeup: what a connection's coroutine sleeps on. Any thread may signal it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <memory>

#include "service/clock.h"

namespace faultline {

class Wakeup : public std::enable_shared_from_this<Wakeup> {
 public:
  // `strand` serialises everything below except signal().
  explicit Wakeup(const boost::asio::any_io_executor& strand) : timer_(strand) {}

  void signal() {
    boost::asio::post(timer_.get_executor(), [self = shared_from_this()] {
      self->signalled_ = true;
      self->timer_.cancel();
    });
  }

  // Until signalled (true; also if that was since the last wait) or the deadline has come (false).
  boost::asio::awaitable<bool> wait(SteadyTime deadline);

 private:
  boost::asio::steady_timer timer_;
  bool signalled_ = false;
};

}  // namespace faultline
