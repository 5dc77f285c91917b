// POST /v1/logs
#include "doors/otlp.h"
#include "http/handlers.h"
#include "http/push.h"
#include "http/whole_body.h"

namespace faultline {
namespace asio = boost::asio;
namespace {

constexpr std::string_view kProtobuf = "application/x-protobuf";
constexpr std::string_view kJson = "application/json";

// The numbers of google.rpc.Code.
int code_of(unsigned status) {
  constexpr int kInvalidArgument = 3;
  constexpr int kResourceExhausted = 8;
  constexpr int kUnavailable = 14;
  if (status == 413 || status == 429) return kResourceExhausted;
  return status >= 500 || status == 408 ? kUnavailable : kInvalidArgument;
}

Response error(bool as_json, const Problem& problem) {
  Response response = problem_response(problem);
  response.content_type = as_json ? kJson : kProtobuf;
  response.body = otlp_status(as_json, code_of(problem.status), problem.detail);
  return response;
}

}  // namespace

asio::awaitable<Response> push_otlp(const Request& request, Services& services,
                                    Exchange& exchange) {
  const bool as_json = has_json_body(request);
  const auto read = [as_json](std::string_view body,
                              RecordVisitor& visitor) -> std::optional<Problem> {
    const Result<void> done =
        as_json ? read_otlp_json(body, visitor) : read_otlp_protobuf(body, visitor);
    if (!done) return problem_from(done.error());
    return std::nullopt;
  };
  const Pushed pushed = co_await take_push(request, services, exchange, "otlp", read);
  if (pushed.problem) {
    if (pushed.problem->status == kClientLeft) co_return Response{.status = kClientLeft};
    co_return error(as_json, *pushed.problem);
  }
  Response response = Response::text(otlp_answer(as_json, pushed.refused, pushed.why_refused),
                                     std::string(as_json ? kJson : kProtobuf));
  note_refused(pushed, response);
  co_return response;
}

}  // namespace faultline
