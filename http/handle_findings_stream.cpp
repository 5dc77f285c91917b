// GET /api/v1/findings/stream: server-sent events
#include <fmt/format.h>
#include <boost/json.hpp>

#include <charconv>

#include "http/connection.h"
#include "http/finding_json.h"
#include "http/handlers.h"
#include "http/offload.h"
#include "http/problem.h"
#include "model/json.h"

namespace faultline {
namespace {

constexpr std::chrono::seconds kHeartbeat{15};
constexpr std::size_t kAtOnce = 100;

constexpr std::string_view kHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
    "X-Accel-Buffering: no\r\nX-Content-Type-Options: nosniff\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n\r\n";

std::string event_of(const StoredFinding& stored) {
  return fmt::format("id: {}\nevent: finding\ndata: {}\n\n", stored.change,
                     compact(finding_json(stored)));
}

// The last change that the client saw. A browser sends it in the header when it reconnects.
Result<std::optional<std::uint64_t>> asked_after(const Request& request) {
  std::string text(request.header("Last-Event-ID"));
  if (text.empty()) text = request.query.text("after").value_or("");
  if (text.empty()) return std::optional<std::uint64_t>{};
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number > INT64_MAX)
    return Error{Error::Kind::invalid_input, "after must be the id of an event, a number"};
  return std::optional<std::uint64_t>{number};
}

}  // namespace

boost::asio::awaitable<Response> stream_findings(const Request& request, Services& services,
                                                 Exchange& exchange) {
  const auto asked = asked_after(request);
  if (!asked) co_return problem_response(asked.error());
  if (request.method == "HEAD") co_return Response::text("", "text/event-stream");
  Connection& connection = exchange.connection;
  FindingFilter filter;
  filter.by_change = true;
  filter.limit = kAtOnce;
  filter.job = request.query.text("job").value_or("");
  const auto subscription = services.changes.subscribe(connection.waker());
  auto begin = [&] { filter.after = services.store.last_change(); };
  if (*asked)
    filter.after = **asked;
  else
    co_await offload(exchange.threads.answering("", request.peer), begin);
  if (!co_await connection.send(kHead, "retry: 3000\n\n"))
    co_return Response{.status = kClientLeft};
  SteadyTime last_said = steady_now();
  auto ask = [&] { return services.store.findings(filter); };
  while (!connection.asked_to_stop()) {
    const FindingPage page = co_await offload(exchange.threads.answering("", request.peer), ask);
    std::string events;
    for (const StoredFinding& stored : page.findings) {
      filter.after = stored.change;
      if (request.may_be_told_of(stored.job)) events += event_of(stored);
    }
    if (events.empty() && steady_now() - last_said >= kHeartbeat) events = ": still here\n\n";
    if (!events.empty()) {
      if (!co_await connection.send(events, "")) break;
      last_said = steady_now();
    }
    if (!page.next) co_await connection.pause(last_said + kHeartbeat);
  }
  co_return Response{.status = kClientLeft};
}

}  // namespace faultline
