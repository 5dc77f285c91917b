#include "http/problem.h"

#include <boost/json.hpp>

namespace faultline {

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
  return response;
}

}  // namespace faultline
