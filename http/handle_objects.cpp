// POST /api/v1/ingest/json
#include <boost/json.hpp>

#include "doors/shipped_objects.h"
#include "http/handlers.h"
#include "http/push.h"

namespace faultline {
namespace asio = boost::asio;
namespace json = boost::json;

asio::awaitable<Response> push_objects(const Request& request, Services& services,
                                       Exchange& exchange) {
  const std::string_view type = request.header("Content-Type");
  if (type.find("msgpack") != std::string_view::npos ||
      type.find("protobuf") != std::string_view::npos)
    co_return problem_response(
        Problem{.status = 415, .detail = "send JSON: one object on each line, or a list of them"});
  const auto read = [](std::string_view body, RecordVisitor& visitor) -> std::optional<Problem> {
    read_objects(body, visitor);
    return std::nullopt;
  };
  const Pushed pushed = co_await take_push(request, services, exchange, "json", read);
  if (pushed.problem) {
    if (pushed.problem->status == kClientLeft) co_return Response{.status = kClientLeft};
    co_return problem_response(*pushed.problem);
  }
  // syslog-ng sends a body that is answered 400 again and again, but gives up one that gets 422.
  if (pushed.all_refused())
    co_return problem_response(Problem{.status = pushed.refused_status == 403 ? 403U : 422U,
                                       .detail = pushed.why_refused});
  json::object body{{"accepted", pushed.taken},
                    {"refused", pushed.refused},
                    {"jobs", json::array(pushed.jobs.begin(), pushed.jobs.end())}};
  if (pushed.refused > 0) body["why_refused"] = pushed.why_refused;
  Response response = Response::json(body);
  note_refused(pushed, response);
  co_return response;
}

}  // namespace faultline
