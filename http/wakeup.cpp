#include "http/wakeup.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace faultline {

boost::asio::awaitable<bool> Wakeup::wait(SteadyTime deadline) {
  if (!signalled_) {
    timer_.expires_at(deadline);
    co_await timer_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  }
  const bool signalled = signalled_;
  signalled_ = false;
  co_return signalled;
}

}  // namespace faultline
