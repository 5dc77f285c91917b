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

std::string_view mcp_version_of(const Request& request) {
  const std::string_view named = request.header("MCP-Protocol-Version");
  return named.empty() ? kAssumedMcpVersion : named;
}

std::optional<Problem> objection_to(const Request& request) {
  if (!has_json_body(request))
    return Problem{.status = 415, .detail = "send one message with Content-Type: application/json"};
  if (best_offer(request.header("Accept"), {"application/json"}).empty())
    return Problem{.status = 406, .detail = "the answer comes as application/json; accept that"};
  if (!is_mcp_version(mcp_version_of(request)))
    return Problem{.status = 400,
                   .detail = fmt::format("MCP-Protocol-Version \"{}\" is not known here (supported "
                                         "versions: {})",
                                         printable_name(mcp_version_of(request)), mcp_versions())};
  return std::nullopt;
}

Response unusable(const RpcFault& fault) {
  Response response = Response::json(rpc_error(fault));
  response.status = 400;
  return response;
}

class McpExchange {
 public:
  McpExchange(const Request& request, Services& services, Threads& threads)
      : request_(request), services_(services), threads_(threads) {}

  // Nothing: the message wants no answer.
  asio::awaitable<std::optional<json::object>> answer(RpcMessage& message) {
    if (std::holds_alternative<RpcNotice>(message)) co_return std::nullopt;
    if (const RpcFault* fault = std::get_if<RpcFault>(&message)) co_return rpc_error(*fault);
    const RpcRequest& asked = std::get<RpcRequest>(message);
    auto begin = [&] { return begin_mcp(asked, services_.version); };
    auto step = co_await offload(threads_.answering(), begin);
    McpOutcome outcome;
    if (McpOutcome* known = std::get_if<McpOutcome>(&step))
      outcome = std::move(*known);
    else
      outcome = co_await ask(std::get<McpQuestions>(step));
    if (json::object* result = std::get_if<json::object>(&outcome))
      co_return rpc_result(asked.id, std::move(*result));
    const RpcFault fault{asked.id, std::move(std::get<RpcError>(outcome))};
    co_return rpc_error(fault);
  }

  // Of a question that the token may not ask.
  std::optional<Refusal> refusal;

 private:
  asio::awaitable<McpOutcome> ask(McpQuestions& questions) {
    std::vector<Response> answers;
    for (const std::string& target : questions.targets) {
      Response answered = co_await ask_own(request_, target, services_, threads_);
      if (answered.refusal) refusal = answered.refusal;
      answers.push_back(std::move(answered));
      if (answers.back().status >= 400) break;
    }
    auto tell = [&] { return questions.tell(answers); };
    co_return co_await offload(threads_.answering(), tell);
  }

  const Request& request_;
  Services& services_;
  Threads& threads_;
};

}  // namespace

asio::awaitable<Response> answer_mcp(const Request& request, Services& services,
                                     Exchange& exchange) {
  if (const auto problem = objection_to(request)) co_return problem_response(*problem);
  auto body = co_await read_small_body(exchange.reader, exchange.body_idle_limit);
  if (Response* late = std::get_if<Response>(&body)) co_return std::move(*late);
  const bool takes_batches = takes_mcp_batches(mcp_version_of(request));
  auto read = [&] { return read_rpc(std::get<std::string>(body), takes_batches); };
  auto message = co_await offload(exchange.threads.answering(), read);
  if (const RpcFault* fault = std::get_if<RpcFault>(&message)) co_return unusable(*fault);
  RpcBody& all = std::get<RpcBody>(message);
  McpExchange mcp(request, services, exchange.threads);
  json::array answers;
  for (RpcMessage& one : all.messages) {
    std::optional<json::object> answered = co_await mcp.answer(one);
    if (answered) answers.emplace_back(std::move(*answered));
  }
  if (answers.empty()) co_return Response{.status = 202};
  // Long lists take long to write.
  auto write = [&] {
    return Response::json(all.is_batch ? json::value(std::move(answers)) : answers.front());
  };
  Response response = co_await offload(exchange.threads.answering(), write);
  response.refusal = mcp.refusal;
  co_return response;
}

}  // namespace faultline
