#include "http/session.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <exception>
#include <utility>
#include <variant>

#include "http/access.h"
#include "http/asking.h"
#include "http/audit.h"
#include "http/ingest_problems.h"
#include "http/offload.h"
#include "http/origin.h"
#include "http/query.h"
#include "http/request_reader.h"
#include "http/router.h"
#include "http/small_body.h"
#include "logging/log.h"

namespace faultline {
namespace asio = boost::asio;
namespace {

std::string head_of(const Response& response, bool close, bool old_client) {
  std::string head = fmt::format(
      "HTTP/1.1 {} {}\r\nDate: {:%a, %d %b %Y %H:%M:%S} GMT\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\n",
      response.status, reason_of(response.status), fmt::gmtime(std::chrono::system_clock::now()));
  if (!response.content_type.empty())
    head += fmt::format("Content-Type: {}\r\n", response.content_type);
  if (response.status != 204 && response.status != 304)
    head += fmt::format("Content-Length: {}\r\nX-Content-Type-Options: nosniff\r\n",
                        response.body.size());
  for (const auto& [name, value] : response.headers) head += fmt::format("{}: {}\r\n", name, value);
  if (close)
    head += "Connection: close\r\n";
  else if (old_client)
    head += "Connection: keep-alive\r\n";
  head += "\r\n";
  return head;
}

Response failed(const Request& request, const std::exception& error) {
  if (const auto* lack = dynamic_cast<const LacksMemory*>(&error))
    return problem_response(memory_problem(*lack));
  say(LogLevel::error, "request-failed", "the server failed on a request",
      {{"method", request.method}, {"path", request.path}, {"why", error.what()}});
  const bool store = dynamic_cast<const StoreError*>(&error) != nullptr;
  if (store)
    return problem_response(
        Problem{.status = 503,
                .detail = fmt::format("the store is out of reach: {}", error.what()),
                .retry_after_seconds = 5});
  return problem_response(
      Problem{.status = 500, .detail = "the server failed on this request; its log says why"});
}

Problem unknown_host(std::string_view host) {
  const std::string shown = printable_name(host);
  return {.status = 421,
          .detail = fmt::format("this server is not known as \"{}\": ask for localhost or for its "
                                "address, or start it with --allow-host {}",
                                shown, printable_name(host.substr(0, host.rfind(':'))))};
}

class Session {
 public:
  Session(std::shared_ptr<Connection> connection, Services& services, Threads& threads,
          SessionOptions options)
      : connection_(std::move(connection)),
        services_(services),
        threads_(threads),
        options_(std::move(options)) {}

  asio::awaitable<void> run() {
    while (!connection_->asked_to_stop()) {
      RequestReader reader(*connection_);
      auto head = co_await reader.read_head();
      if (std::holds_alternative<Gone>(head)) {
        if (const std::string why = connection_->tls_failure(); !why.empty())
          note_refusal_of_tls(why);
        co_return;
      }
      if (const Problem* problem = std::get_if<Problem>(&head)) {
        const Response refusal = problem_response(*problem);
        services_.metrics.count_request("(malformed)", "-", refusal.status, {});
        if (options_.audit != nullptr) options_.audit->refused(reader.begun(), refusal);
        const std::string text = head_of(refusal, true, false);
        if (co_await connection_->send(text, refusal.body)) co_await connection_->close_gently();
        co_return;
      }
      Request& request = std::get<Request>(head);
      Response response = co_await respond(request, reader);
      if (response.status == kClientLeft) co_return;
      const bool close =
          response.close || !reader.keep_alive() || !reader.done() || connection_->asked_to_stop();
      const std::string text = head_of(response, close, reader.old_client());
      const std::string_view body = request.method == "HEAD" ? std::string_view{} : response.body;
      if (!co_await connection_->send(text, body)) co_return;
      if (close) {
        co_await connection_->close_gently();
        co_return;
      }
    }
  }

 private:
  void note_refusal_of_tls(const std::string& why) {
    services_.metrics.tls_refused();
    if (options_.audit != nullptr)
      options_.audit->refused_connection("tls", connection_->peer(), why);
  }

  asio::awaitable<Response> respond(Request& request, RequestReader& reader) {
    const SteadyTime begun = steady_now();
    std::string_view pattern = "(none)";
    Response response;
    bool is_act = false;
    auto found = find_route(request);
    if (Response* early = std::get_if<Response>(&found)) {
      response = std::move(*early);
    } else {
      const Route& route = *std::get<const Route*>(found);
      pattern = route.pattern;
      is_act = route.method != "GET" && !route.needs.empty() &&
               !route.needs.any_of({Scope::ingest, Scope::read});
      try {
        response = co_await answer(route, request, reader);
      } catch (const std::exception& error) {
        response = failed(request, error);
      }
    }
    services_.metrics.count_request(pattern, pattern == "(none)" ? "-" : request.method,
                                    response.status, steady_now() - begun);
    if (options_.audit != nullptr) {
      if (response.refusal)
        options_.audit->refused(request, response);
      else if (is_act)
        options_.audit->did(request, response);
    }
    co_return response;
  }

  asio::awaitable<Response> answer(const Route& route, Request& request, RequestReader& reader) {
    if (!route.always && !services_.jobs.ready())
      co_return problem_response(
          Problem{.status = 503,
                  .detail = "the server has just started and is reading its store; try again soon",
                  .retry_after_seconds = 2});
    if (options_.host_names && !is_meant_for_us(request, *options_.host_names))
      co_return problem_response(unknown_host(request.header("Host")));
    if ((route.method != "GET" || route.hands_out) && crosses_origins(request))
      co_return problem_response(Problem{.status = 403,
                                         .detail = "pages of other origins may not send data here",
                                         .refused = "origin"});
    if (options_.access != nullptr) {
      Admission admission = options_.access->admit(request, route, services_.default_job);
      request.by = std::move(admission.token);
      if (admission.refusal) co_return problem_response(*admission.refusal);
      request.jobs = std::move(admission.jobs);
    }
    if (const Stream* stream = std::get_if<Stream>(&route.handler)) {
      Exchange exchange{*connection_, reader, threads_, options_.body_idle_limit, options_.audit};
      co_return co_await (*stream)(request, services_, exchange);
    }
    if (route.takes_body && request.has_body) {
      auto body = co_await read_small_body(reader, options_.body_idle_limit);
      if (Response* refusal = std::get_if<Response>(&body)) co_return std::move(*refusal);
      request.body = std::move(std::get<std::string>(body));
    }
    auto call = [&] { return std::get<Answer>(route.handler)(request, services_); };
    if (route.runs == Runs::at_once) co_return call();
    co_return co_await offload(seat_for(threads_, route, request), call);
  }

  std::shared_ptr<Connection> connection_;
  Services& services_;
  Threads& threads_;
  SessionOptions options_;
};

}  // namespace

asio::awaitable<void> run_session(std::shared_ptr<Connection> connection, Services& services,
                                  Threads& threads, SessionOptions options) {
  Session session(std::move(connection), services, threads, std::move(options));
  co_await session.run();
}

}  // namespace faultline
