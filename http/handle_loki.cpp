// POST /loki/api/v1/push, GET /ready
#include <snappy.h>

#include <fmt/format.h>

#include "doors/loki.h"
#include "http/handlers.h"
#include "http/push.h"
#include "http/whole_body.h"

namespace faultline {
namespace asio = boost::asio;
namespace {

// Loki's errors are plain text.
Response loki_error(const Problem& problem) {
  Response response = problem_response(problem);
  response.content_type = "text/plain; charset=utf-8";
  response.body = problem.detail + "\n";
  return response;
}

std::optional<Problem> read_push(bool as_json, std::string_view body, RecordVisitor& visitor) {
  Result<void> read;
  if (as_json) {
    read = read_loki_json(body, visitor);
  } else {
    // Snappy's block format, which says at its beginning how long it is unpacked.
    std::size_t length = 0;
    if (!snappy::GetUncompressedLength(body.data(), body.size(), &length))
      return Problem{.status = 400, .detail = "the body is neither JSON nor snappy's block format"};
    if (length > kMostWholeBody)
      return Problem{.status = 413,
                     .detail = fmt::format("the body has {} bytes; send less at once", length)};
    std::string message;
    if (!snappy::Uncompress(body.data(), body.size(), &message))
      return Problem{.status = 400, .detail = "snappy cannot unpack the body"};
    read = read_loki_protobuf(message, visitor);
  }
  if (!read) return problem_from(read.error());
  return std::nullopt;
}

}  // namespace

asio::awaitable<Response> push_loki(const Request& request, Services& services,
                                    Exchange& exchange) {
  const bool as_json = has_json_body(request);
  const auto read = [as_json](std::string_view body, RecordVisitor& visitor) {
    return read_push(as_json, body, visitor);
  };
  const Pushed pushed = co_await take_push(request, services, exchange, "loki", read);
  if (pushed.problem) {
    if (pushed.problem->status == kClientLeft) co_return Response{.status = kClientLeft};
    co_return loki_error(*pushed.problem);
  }
  if (pushed.all_refused())
    co_return loki_error(Problem{.status = pushed.refused_status, .detail = pushed.why_refused});
  Response response{.status = 204};
  note_refused(pushed, response);
  co_return response;
}

Response show_ready(const Request& request, Services& services) {
  Response ready = show_readiness(request, services);
  return ready.status == 200 ? Response::text("ready\n") : ready;
}

}  // namespace faultline
