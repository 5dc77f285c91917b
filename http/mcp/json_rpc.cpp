#include "http/mcp/json_rpc.h"

#include <fmt/format.h>
#include <boost/json.hpp>

#include <utility>

namespace faultline {
namespace json = boost::json;
namespace {

// A batch is one request to the limits of a token.
constexpr std::size_t kMostInBatch = 20;

RpcFault no_request(std::string why) { return {nullptr, {rpc::kNoRequest, std::move(why)}}; }

// MCP allows texts and whole numbers, JSON-RPC also null.
bool may_be_id(const json::value& id) { return id.is_string() || id.is_int64() || id.is_uint64(); }

RpcMessage message_of(json::value& value) {
  if (!value.is_object()) return no_request("a message must be a JSON object");
  json::object& message = value.as_object();
  const json::value* version = message.if_contains("jsonrpc");
  if (version == nullptr || *version != "2.0") return no_request("jsonrpc must be \"2.0\"");
  json::value* id = message.if_contains("id");
  if (id != nullptr && !may_be_id(*id)) return no_request("id must be a text or a whole number");
  const json::value* method = message.if_contains("method");
  if (method == nullptr) {
    if (message.contains("result") || message.contains("error")) return RpcNotice{};
    return no_request("the message has no method");
  }
  if (!method->is_string()) return no_request("method must be a text");
  if (id == nullptr) return RpcNotice{};
  RpcRequest request{std::move(*id), std::string(method->as_string()), {}};
  if (json::value* params = message.if_contains("params")) {
    if (!params->is_object())
      return RpcFault{std::move(request.id), {rpc::kBadParams, "params must be a JSON object"}};
    request.params = std::move(params->as_object());
  }
  return request;
}

}  // namespace

std::variant<RpcBody, RpcFault> read_rpc(std::string_view body, bool takes_batches) {
  boost::system::error_code error;
  json::value value = json::parse(body, error);
  if (error) return RpcFault{nullptr, {rpc::kNotJson, "the body must be JSON: " + error.message()}};
  RpcBody read{.messages = {}, .is_batch = value.is_array()};
  if (!read.is_batch) {
    RpcMessage message = message_of(value);
    if (RpcFault* fault = std::get_if<RpcFault>(&message); fault && fault->id.is_null())
      return std::move(*fault);
    read.messages.push_back(std::move(message));
    return read;
  }
  if (!takes_batches)
    return no_request("this version of the protocol has no batches; send one message at a time");
  json::array& all = value.as_array();
  if (all.empty() || all.size() > kMostInBatch)
    return no_request(fmt::format("a batch must have 1 to {} messages", kMostInBatch));
  for (json::value& one : all) read.messages.push_back(message_of(one));
  return read;
}

json::object rpc_result(const json::value& id, json::object result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

json::object rpc_error(const RpcFault& fault) {
  return {{"jsonrpc", "2.0"},
          {"id", fault.id},
          {"error", json::object{{"code", fault.error.code}, {"message", fault.error.message}}}};
}

}  // namespace faultline
