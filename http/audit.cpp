#include "http/audit.h"

#include <string>
#include <utility>
#include <vector>

#include "logging/log.h"

namespace faultline {
namespace {

constexpr std::string_view kEvent = "audit";

void add_known(std::vector<LogField>& fields, std::string_view name, std::string_view value) {
  if (!value.empty()) fields.emplace_back(name, value);
}

void add_request(std::vector<LogField>& fields, const Request& request) {
  fields.emplace_back("peer", request.peer);
  add_known(fields, "by", request.by);
  add_known(fields, "method", request.method);
  add_known(fields, "path", request.path);
}

void say_unsaid(const std::vector<RefusalLimit::Unsaid>& all) {
  for (const RefusalLimit::Unsaid& unsaid : all) {
    std::vector<LogField> fields{{"audit", "refused"}, {"reason", unsaid.reason}};
    add_known(fields, "peer", unsaid.peer);
    fields.emplace_back("more", unsaid.count);
    say(LogLevel::warning, kEvent, "", std::move(fields));
  }
}

}  // namespace

AuditLog::~AuditLog() { say_unsaid(limit_.take_all_unsaid()); }

void AuditLog::say_what_was_left_out() {
  const std::lock_guard lock(mutex_);
  say_unsaid(limit_.take_unsaid(steady_now()));
}

// First writes what was left out of an earlier flood.
bool AuditLog::may_say(std::string_view reason, std::string_view peer) {
  constexpr std::chrono::seconds kBetweenLooks{1};
  const SteadyTime now = steady_now();
  const std::lock_guard lock(mutex_);
  if (now - looked_ >= kBetweenLooks) {
    looked_ = now;
    say_unsaid(limit_.take_unsaid(now));
  }
  return limit_.may_say(reason, peer, now);
}

void AuditLog::refused(const Request& request, const Response& answer) {
  if (!answer.refusal || !may_say(answer.refusal->reason, request.peer)) return;
  std::vector<LogField> fields{
      {"audit", "refused"}, {"reason", answer.refusal->reason}, {"status", answer.status}};
  add_request(fields, request);
  fields.emplace_back("why", answer.refusal->why);
  say(LogLevel::warning, kEvent, "", std::move(fields));
}

void AuditLog::refused_connection(std::string_view reason, std::string_view peer,
                                  std::string_view why) {
  if (may_say(reason, peer))
    say(LogLevel::warning, kEvent, "",
        {{"audit", "refused"}, {"reason", reason}, {"peer", peer}, {"why", why}});
}

void AuditLog::did(const Request& request, const Response& answer) {
  std::vector<LogField> fields{{"audit", "did"}, {"status", answer.status}};
  add_request(fields, request);
  add_known(fields, "what", answer.did);
  say(LogLevel::info, kEvent, "", std::move(fields));
}

}  // namespace faultline
