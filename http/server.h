// Server: listens, and runs a session for every connection on a few threads.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "http/session.h"
#include "http/syslog_door.h"
#include "http/tls.h"
#include "service/services.h"

namespace faultline {

struct ServerOptions {
  std::string address = "127.0.0.1";
  unsigned short port = 8686;  // 0: any free one
  std::size_t max_connections = 1024;
  const TlsKeys* tls = nullptr;  // null: connections are not encrypted
  SessionOptions session;
  std::optional<SyslogOptions> syslog;  // nothing: it does not listen for syslog
  // Called from time to time once jobs are known, on a thread where it may block.
  std::function<void()> on_housekeeping;
  std::function<void()>
      on_hangup;  // called for SIGHUP, on a thread where it may block; empty: the system's default
};

class Server {
 public:
  // Listens; throws std::runtime_error with one clear line if it cannot.
  Server(const ServerOptions& options, Services& services);
  ~Server();

  std::string url() const;
  std::string syslog_address() const;  // empty: it does not listen for syslog

  // Serves until SIGTERM, SIGINT or stop(): then no connection is accepted, open uploads keep what
  // they sent, requests in flight are answered. Learns the stored jobs first, and answers 503
  // meanwhile. Throws if that fails.
  void run();

  void stop();  // from any thread

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace faultline
