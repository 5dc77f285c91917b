// One connection from its first request to its end.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <memory>
#include <optional>

#include "http/connection.h"
#include "http/origin.h"
#include "http/threads.h"
#include "service/services.h"

namespace faultline {

class Access;
class AuditLog;

struct SessionOptions {
  std::chrono::seconds body_idle_limit{3600};
  // The names that requests may use for this server; nothing: any name.
  std::optional<ServerNames> host_names;
  const Access* access = nullptr;  // null: no tokens are asked for
  AuditLog* audit = nullptr;
};

boost::asio::awaitable<void> run_session(std::shared_ptr<Connection> connection, Services& services,
                                         Threads& threads, SessionOptions options);

}  // namespace faultline
