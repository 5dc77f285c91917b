// AuditLog: who was refused, and what operators did, as lines of key=value on stderr. May be called
// from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "http/access.h"
#include "http/message.h"
#include "service/clock.h"

namespace faultline {

class AuditLog {
 public:
  // What is refused more often is counted, and the count is said: a flood fills no disk.
  static constexpr int kMostRefusalsASecond = 10;

  void refused(const Request& request, const Admission& admission);
  void refused_tls(std::string_view peer, std::string_view why);
  void did(const Request& request, std::string_view token);

 private:
  // How many went unsaid since the last; nothing: this one does, too.
  std::optional<std::int64_t> may_say();

  std::mutex mutex_;
  SteadyTime second_{};
  int refusals_ = 0;  // of that second
  std::int64_t unsaid_ = 0;
};

// name="a value", quoted as logfmt quotes.
std::string logfmt_value(std::string_view value);

}  // namespace faultline
