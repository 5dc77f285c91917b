// POST /services/collector, /services/collector/event, /services/collector/raw;
// GET /services/collector/health
#include <boost/json.hpp>

#include "doors/shipped_objects.h"
#include "http/handlers.h"
#include "http/push.h"

namespace faultline {
namespace asio = boost::asio;
namespace json = boost::json;
namespace {

Response answer(unsigned status, std::string_view text, int code) {
  Response response = Response::json(json::object{{"text", text}, {"code", code}});
  response.status = status;
  return response;
}

Response answer_of(const Pushed& pushed, const std::optional<EventError>& wrong) {
  if (pushed.problem && pushed.problem->status == kClientLeft) return {.status = kClientLeft};
  if (wrong) {
    Response response = Response::json(json::object{
        {"text", wrong->text}, {"code", wrong->code}, {"invalid-event-number", wrong->event}});
    response.status = 400;
    return response;
  }
  if (pushed.problem) {
    const Problem& problem = *pushed.problem;
    const bool busy = problem.status == 429 || problem.status >= 500;
    Response response =
        busy ? answer(503, "Server is busy", 9) : answer(problem.status, problem.detail, 6);
    if (problem.retry_after_seconds)
      response.headers.emplace_back("Retry-After", std::to_string(*problem.retry_after_seconds));
    return response;
  }
  if (pushed.all_refused())
    return answer(pushed.refused_status, pushed.why_refused, pushed.refused_status == 403 ? 4 : 7);
  Response response = answer(200, "Success", 0);
  note_refused(pushed, response);
  return response;
}

}  // namespace

asio::awaitable<Response> push_events(const Request& request, Services& services,
                                      Exchange& exchange) {
  std::optional<EventError> wrong;
  const auto read = [&](std::string_view body, RecordVisitor& visitor) -> std::optional<Problem> {
    wrong = read_events(body, visitor).error;
    if (wrong) return Problem{.status = 400, .detail = wrong->text};
    return std::nullopt;
  };
  const Pushed pushed = co_await take_push(request, services, exchange, "splunk", read);
  co_return answer_of(pushed, wrong);
}

asio::awaitable<Response> push_raw_events(const Request& request, Services& services,
                                          Exchange& exchange) {
  std::optional<EventError> wrong;
  const auto read = [&](std::string_view body, RecordVisitor& visitor) -> std::optional<Problem> {
    if (body.empty()) {
      wrong = EventError{5, "No data"};
      return Problem{.status = 400, .detail = wrong->text};
    }
    visitor.message(std::nullopt, body);
    return std::nullopt;
  };
  const Pushed pushed = co_await take_push(request, services, exchange, "splunk", read);
  co_return answer_of(pushed, wrong);
}

Response show_events_health(const Request& request, Services& services) {
  if (show_readiness(request, services).status != 200)
    return answer(503, "HEC is unhealthy, queues are full", 18);
  return answer(200, "HEC is healthy", 17);
}

}  // namespace faultline
