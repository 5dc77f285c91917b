#include "http/asking.h"

#include <utility>
#include <variant>

#include "http/access.h"
#include "http/audit.h"
#include "http/offload.h"
#include "http/problem.h"

namespace faultline {
namespace asio = boost::asio;
namespace {

// Host is all that handlers need of the header: commands in answers name the server by it.
Request on_behalf_of(const Request& asker, const std::string& target) {
  Request request;
  request.method = "GET";
  request.target = target;
  request.path = target.substr(0, target.find('?'));
  if (asker.has_header("Host")) request.headers.emplace_back("Host", asker.header("Host"));
  request.peer = asker.peer;
  request.encrypted = asker.encrypted;
  request.jobs = asker.jobs;
  request.by = asker.by;
  return request;
}

asio::awaitable<Response> answer_to(Request& request, Services& services, Threads& threads) {
  auto found = find_route(request);
  if (Response* early = std::get_if<Response>(&found)) co_return std::move(*early);
  const Route& route = *std::get<const Route*>(found);
  const Answer* handler = std::get_if<Answer>(&route.handler);
  if (handler == nullptr || !route.needs.any_of({Scope::read}))
    co_return problem_response(
        Problem{.status = 403, .detail = "this is no question that a reader may ask here"});
  if (const auto problem = beyond_its_jobs(request.jobs, request, route, services.default_job))
    co_return problem_response(*problem);
  auto call = [&] { return (*handler)(request, services); };
  co_return co_await offload(seat_for(threads, route, request), call);
}

}  // namespace

Seat seat_for(Threads& threads, const Route& route, const Request& request) {
  if (route.runs == Runs::beside_everything) return {.threads = threads.health()};
  for (const auto& [name, value] : request.path_values)
    if (name == "job") return threads.answering(value, request.peer);
  return threads.answering("", request.peer);
}

asio::awaitable<Response> ask_own(const Request& asker, const std::string& target,
                                  Services& services, Threads& threads, AuditLog* audit) {
  Request request = on_behalf_of(asker, target);
  Response response = co_await answer_to(request, services, threads);
  if (audit != nullptr && response.refusal) {
    request.path = target;  // the job may be named in the query only
    audit->refused(request, response);
  }
  co_return response;
}

}  // namespace faultline
