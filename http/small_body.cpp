#include "http/small_body.h"

#include <string_view>

#include "http/problem.h"
#include "http/request_reader.h"

namespace faultline {

boost::asio::awaitable<std::variant<std::string, Response>> read_small_body(
    RequestReader& reader, std::chrono::seconds limit) {
  constexpr std::size_t kMostBody = std::size_t{64} * 1024;
  const Response left{.status = kClientLeft};
  if (!co_await reader.invite_body()) co_return left;
  const SteadyTime deadline = steady_now() + limit;
  std::string body;
  for (;;) {
    const BodyEvent event = co_await reader.read_body(deadline);
    if (event == BodyEvent::end) co_return body;
    if (event == BodyEvent::closed) co_return left;
    if (event == BodyEvent::timeout)
      co_return problem_response(
          Problem{.status = 408, .detail = "the body did not arrive in time"});
    if (event == BodyEvent::malformed)
      co_return problem_response(Problem{
          .status = 400, .detail = "the body is not what its header says", .refused = "malformed"});
    if (reader.stop_reason() == StopReason::others_wait)
      co_return problem_response(gives_way("send the request again later"));
    if (event != BodyEvent::pieces) continue;
    for (const std::string_view piece : reader.pieces()) body += piece;
    if (body.size() > kMostBody)
      co_return problem_response(
          Problem{.status = 413, .detail = "the body is longer than 64 KiB"});
  }
}

}  // namespace faultline
