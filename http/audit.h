// AuditLog: writes to the log (event=audit) who was refused and why, and what operators did, with
// the outcome. May be called from any thread.
#pragma once

#include <mutex>
#include <string_view>

#include "http/message.h"
#include "http/refusal_limit.h"
#include "service/clock.h"

namespace faultline {

class AuditLog {
 public:
  AuditLog() = default;
  ~AuditLog();  // says what is still unsaid
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  // Only the peer of the request may be known. `answer` says why (Response::refusal).
  void refused(const Request& request, const Response& answer);
  // The connection was ended before there was a request.
  void refused_connection(std::string_view reason, std::string_view peer, std::string_view why);
  void did(const Request& request, const Response& answer);

  // Writes what was left out of a flood, once its minute is over. Has to be called from time to
  // time.
  void say_what_was_left_out();

 private:
  bool may_say(std::string_view reason, std::string_view peer);

  std::mutex mutex_;
  RefusalLimit limit_;
  SteadyTime looked_{};
};

}  // namespace faultline
