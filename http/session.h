// One connection from its first request to its end.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>

#include <chrono>
#include <memory>

#include "http/connection.h"
#include "service/services.h"

namespace faultline {

struct SessionOptions {
  std::chrono::seconds body_idle_limit{3600};
};

// Handlers that may block run on `blocking`.
boost::asio::awaitable<void> run_session(std::shared_ptr<Connection> connection, Services& services,
                                         boost::asio::thread_pool& blocking,
                                         SessionOptions options);

}  // namespace faultline
