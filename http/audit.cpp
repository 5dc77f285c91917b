#include "http/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace faultline {
namespace {

std::string said_of(const Request& request, std::string_view token) {
  return fmt::format("peer={} token={} method={} path={}", logfmt_value(request.peer),
                     logfmt_value(token.empty() ? "-" : token), logfmt_value(request.method),
                     logfmt_value(printable_name(request.path)));
}

std::string counted(std::int64_t unsaid) {
  return unsaid == 0 ? "" : fmt::format(" unsaid={}", unsaid);
}

}  // namespace

std::string logfmt_value(std::string_view value) {
  const bool plain = !value.empty() && std::ranges::none_of(value, [](char c) {
    return c == ' ' || c == '"' || c == '=' || c == '\\';
  });
  if (plain) return std::string(value);
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::optional<std::int64_t> AuditLog::may_say() {
  const SteadyTime now = steady_now();
  const std::lock_guard lock(mutex_);
  if (now - second_ >= std::chrono::seconds{1}) {
    second_ = now;
    refusals_ = 0;
  }
  if (++refusals_ > kMostRefusalsASecond) {
    ++unsaid_;
    return std::nullopt;
  }
  return std::exchange(unsaid_, 0);
}

void AuditLog::refused(const Request& request, const Admission& admission) {
  if (const auto unsaid = may_say())
    fmt::print(stderr, "{} audit=refused status={} {} why={}{}\n", to_rfc3339(utc_now()),
               admission.refusal->status, said_of(request, admission.token),
               logfmt_value(admission.refusal->detail), counted(*unsaid));
}

void AuditLog::refused_tls(std::string_view peer, std::string_view why) {
  if (const auto unsaid = may_say())
    fmt::print(stderr, "{} audit=refused peer={} protocol=tls why={}{}\n", to_rfc3339(utc_now()),
               logfmt_value(peer), logfmt_value(why), counted(*unsaid));
}

void AuditLog::did(const Request& request, std::string_view token) {
  fmt::print(stderr, "{} audit=did {}\n", to_rfc3339(utc_now()), said_of(request, token));
}

}  // namespace faultline
