#include "guard/guard_findings.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <chrono>
#include <utility>

#include "guard/guard_mark.h"

namespace faultline {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostOfFindings = std::size_t{16} << 20;
constexpr std::chrono::seconds kFindingsTimeout{15};
constexpr int kMostPages = 100;

// null stands for an empty text.
std::string text_or_empty(const json::object& object, std::string_view key) {
  const json::value& value = object.at(key);
  return value.is_null() ? std::string() : std::string(value.as_string());
}

// What cannot be read throws.
GuardFinding finding_from(const json::object& object) {
  GuardFinding finding{.id = text_or_empty(object, "finding"),
                       .cause = text_or_empty(object, "class"),
                       .title = text_or_empty(object, "title"),
                       .severity = text_or_empty(object, "severity"),
                       .confidence = object.at("confidence").to_number<double>(),
                       .hosts = {},
                       .job = text_or_empty(object, "job"),
                       .incident = text_or_empty(object, "incident"),
                       .role = text_or_empty(object, "role"),
                       .state = text_or_empty(object, "state"),
                       .reason = text_or_empty(object, "reason"),
                       .review = text_or_empty(object, "review"),
                       .part_of_job = object.at("part_of_job").as_bool(),
                       .opened = parse_rfc3339(text_or_empty(object, "opened")).value(),
                       .resolved = {},
                       .last_seen = {},
                       .zone_assumed = object.at("zone_assumed").as_bool()};
  for (const json::value& host : object.at("subject").at("hosts").as_array())
    finding.hosts.emplace_back(host.as_string());
  if (const std::string resolved = text_or_empty(object, "resolved"); !resolved.empty())
    finding.resolved = parse_rfc3339(resolved).value();
  if (const std::string seen = text_or_empty(object, "last_seen"); !seen.empty())
    finding.last_seen = parse_rfc3339(seen).value();
  const bool odd_incident = !finding.incident.empty() && !is_plain_id(finding.incident);
  if (!is_plain_id(finding.id) || odd_incident) throw std::runtime_error("an odd id");
  return finding;
}

Error no_findings(const ServerLink& link, const ClientAnswer& answer) {
  const bool answered = answer.outcome == ClientAnswer::Outcome::answered;
  return {Error::Kind::invalid_input,
          fmt::format("{} {}", link.name(), answered ? problem_in(answer) : answer.why)};
}

}  // namespace

std::optional<GuardFinding> guard_finding_in(std::string_view text) {
  try {
    return finding_from(json::parse(text).as_object());
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

GuardFindings::GuardFindings(ShipServer server)
    : link_(std::move(server), {.timeout = kFindingsTimeout,
                                .most_body = kMostOfFindings,
                                .reads_accepted = true,
                                .keeps_connection = true,
                                .allows = {},
                                .none_allowed = {}}) {}

Result<std::vector<GuardFinding>> GuardFindings::open() {
  std::vector<GuardFinding> findings;
  std::string cursor;
  for (int page = 0; page < kMostPages; ++page) {
    std::string path = "/api/v1/findings?state=open&limit=1000";
    if (!cursor.empty()) path += "&cursor=" + query_escaped(cursor);
    const ClientAnswer answer =
        link_.ask({.method = "GET", .target = link_.target(path), .headers = {}, .body = {}});
    if (answer.outcome != ClientAnswer::Outcome::answered || answer.status != 200)
      return no_findings(link_, answer);
    try {
      const json::object object = json::parse(answer.body).as_object();
      for (const json::value& finding : object.at("findings").as_array())
        findings.push_back(finding_from(finding.as_object()));
      cursor = text_or_empty(object, "next_cursor");
    } catch (const std::exception& failure) {
      // Half a list would break promises that count over all of it.
      return Error{Error::Kind::invalid_input,
                   fmt::format("{} answers what cannot be read: {}", link_.name(), failure.what())};
    }
    if (cursor.empty()) return findings;
  }
  return Error{Error::Kind::too_large, fmt::format("{} has too many open findings", link_.name())};
}

Result<std::optional<GuardFinding>> GuardFindings::one(const std::string& id) {
  const ClientAnswer answer = link_.ask({.method = "GET",
                                         .target = link_.target("/api/v1/findings/" + id),
                                         .headers = {},
                                         .body = {}});
  if (answer.outcome == ClientAnswer::Outcome::answered && answer.status == 404)
    return std::optional<GuardFinding>();
  if (answer.outcome != ClientAnswer::Outcome::answered || answer.status != 200)
    return no_findings(link_, answer);
  std::optional<GuardFinding> finding = guard_finding_in(answer.body);
  if (!finding)
    return Error{Error::Kind::invalid_input,
                 fmt::format("{} answers what cannot be read", link_.name())};
  if (finding->id != id)
    return Error{Error::Kind::invalid_input,
                 fmt::format("{} answers another finding than {}", link_.name(), id)};
  return finding;
}

}  // namespace faultline
