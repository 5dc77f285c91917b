// SyslogDoor: takes the messages of syslog that come over TCP and UDP. Nothing is answered, so
// senders over TCP are slowed down while the store is busy, and datagrams are counted that find no
// room.
#pragma once

#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <memory>
#include <string>

#include "http/audit.h"
#include "http/threads.h"
#include "service/services.h"

namespace faultline {

struct SyslogOptions {
  std::string address;
  unsigned short port = 0;  // of both; 0: any free one
  std::size_t max_connections = 1024;
};

class SyslogDoor {
 public:
  // Listens; throws std::runtime_error with one clear line if it cannot. `audit` may be null.
  SyslogDoor(boost::asio::io_context& context, const SyslogOptions& options, Services& services,
             Threads& threads, AuditLog* audit);
  ~SyslogDoor();

  std::string address() const;  // 127.0.0.1:5514

  void start();

  // Takes what clients have sent, stores it, and ends. From any thread.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace faultline
