// AuditLog: who was refused and why, and what operators did and what came of it, as lines of the
// log (event=audit). May be called from any thread.
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

  // Of the request only its peer may be known. The answer says why (Response::refusal).
  void refused(const Request& request, const Response& answer);
  // Before there was a request.
  void refused_tls(std::string_view peer, std::string_view why);
  void did(const Request& request, const Response& answer);

  // What a flood left out, once its minute is over. Somebody has to call it now and then.
  void say_what_was_left_out();

 private:
  bool may_say(std::string_view reason, std::string_view peer);

  std::mutex mutex_;
  RefusalLimit limit_;
  SteadyTime looked_{};
};

}  // namespace faultline
