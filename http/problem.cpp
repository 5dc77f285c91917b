#include "http/problem.h"

#include <fmt/format.h>
#include <boost/json.hpp>

namespace faultline {
namespace {

// Statuses that are always a refusal. 400 and 503 may also be answers.
std::string_view reason_to_refuse(unsigned status) {
  switch (status) {
    case 401:
      return "token";
    case 403:
      return "rights";
    case 408:
      return "slow";
    case 413:
      return "too-large";
    case 414:
      return "long-target";
    case 421:
      return "host";
    case 429:
      return "rate";
    case 431:
      return "long-head";
    case 417:
    case 501:
    case 505:
      return "unsupported";
    default:
      return {};
  }
}

}  // namespace

Problem problem_from(const Error& error) {
  switch (error.kind) {
    case Error::Kind::invalid_input:
      return {.status = 400, .detail = error.message};
    case Error::Kind::not_found:
      return {.status = 404, .detail = error.message};
    case Error::Kind::conflict:
      return {.status = 409, .detail = error.message};
    case Error::Kind::too_large:
      return {.status = 413, .detail = error.message};
  }
  return {.status = 500, .detail = error.message};
}

Problem gives_way(std::string_view what_to_do) {
  return {
      .status = 503,
      .detail = fmt::format("many connections are open, and this one has sent nothing for long, "
                            "or little; {}",
                            what_to_do),
      .retry_after_seconds = 5,
      .refused = kTooManyConnections};
}

Response problem_response(const Problem& problem) {
  boost::json::object body{{"type", "about:blank"},
                           {"title", reason_of(problem.status)},
                           {"status", problem.status},
                           {"detail", problem.detail}};
  if (problem.next_offset) body["next_offset"] = *problem.next_offset;
  Response response = Response::json(body);
  response.status = problem.status;
  response.content_type = "application/problem+json";
  response.headers = problem.headers;
  if (problem.retry_after_seconds)
    response.headers.emplace_back("Retry-After", std::to_string(*problem.retry_after_seconds));
  const std::string_view reason =
      problem.refused.empty() ? reason_to_refuse(problem.status) : problem.refused;
  if (!reason.empty()) response.refusal = Refusal{reason, problem.detail};
  return response;
}

}  // namespace faultline
