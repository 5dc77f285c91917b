// POST /mcp: the Model Context Protocol over streamable HTTP, without sessions and streams.
#include <fmt/format.h>
#include <boost/json.hpp>

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "http/asking.h"
#include "http/handlers.h"
#include "http/mcp/protocol.h"
#include "http/offload.h"
#include "http/problem.h"
#include "http/small_body.h"
#include "http/whole_body.h"

namespace faultline {
namespace asio = boost::asio;
namespace json = boost::json;
namespace {

std::optional<Problem> objection_to(const Request& request) {
  if (!has_json_body(request))
    return Problem{.status = 415, .detail = "send one message with Content-Type: application/json"};
  if (best_offer(request.header("Accept"), {"application/json"}).empty())
    return Problem{.status = 406, .detail = "the answer comes as application/json; accept that"};
  const std::string_view version = request.header("MCP-Protocol-Version");
  if (!version.empty() && !is_mcp_version(version))
    return Problem{.status = 400,
                   .detail = fmt::format("MCP-Protocol-Version \"{}\" is not known here (supported "
                                         "versions: {})",
                                         printable_name(version), mcp_versions())};
  return std::nullopt;
}

Response answer_to_fault(const RpcFault& fault) {
  Response response = Response::json(rpc_error(fault));
  if (fault.id.is_null()) response.status = 400;
  return response;
}

asio::awaitable<McpOutcome> ask(McpQuestions& questions, const Request& request, Services& services,
                                Exchange& exchange) {
  std::vector<Response> answers;
  for (const std::string& target : questions.targets) {
    answers.push_back(
        co_await ask_own(request, target, services, exchange.threads, exchange.audit));
    if (answers.back().status >= 400) break;
  }
  auto tell = [&] { return questions.tell(answers); };
  co_return co_await offload(exchange.threads.answering("", request.peer), tell);
}

}  // namespace

asio::awaitable<Response> answer_mcp(const Request& request, Services& services,
                                     Exchange& exchange) {
  if (const auto problem = objection_to(request)) co_return problem_response(*problem);
  auto body = co_await read_small_body(exchange.reader, exchange.body_idle_limit);
  if (Response* late = std::get_if<Response>(&body)) co_return std::move(*late);
  auto read = [&] { return read_rpc(std::get<std::string>(body)); };
  const RpcMessage message = co_await offload(exchange.threads.answering("", request.peer), read);
  if (std::holds_alternative<RpcNotice>(message)) co_return Response{.status = 202};
  if (const RpcFault* fault = std::get_if<RpcFault>(&message)) co_return answer_to_fault(*fault);
  const RpcRequest& asked = std::get<RpcRequest>(message);
  auto begin = [&] { return begin_mcp(asked, services.version); };
  auto step = co_await offload(exchange.threads.answering("", request.peer), begin);
  McpOutcome outcome;
  if (McpOutcome* known = std::get_if<McpOutcome>(&step))
    outcome = std::move(*known);
  else
    outcome = co_await ask(std::get<McpQuestions>(step), request, services, exchange);
  // Long lists take long to write.
  auto write = [&] {
    if (json::object* result = std::get_if<json::object>(&outcome))
      return Response::json(rpc_result(asked.id, std::move(*result)));
    return Response::json(rpc_error({asked.id, std::move(std::get<RpcError>(outcome))}));
  };
  co_return co_await offload(exchange.threads.answering("", request.peer), write);
}

}  // namespace faultline
