#include "http/mcp/json_rpc.h"

#include <boost/json.hpp>

#include <utility>

namespace faultline {
namespace json = boost::json;
namespace {

RpcFault no_request(std::string why) { return {nullptr, {rpc::kNoRequest, std::move(why)}}; }

// MCP allows texts and whole numbers, JSON-RPC also null.
bool may_be_id(const json::value& id) { return id.is_string() || id.is_int64() || id.is_uint64(); }

RpcMessage message_of(json::value& value) {
  if (value.is_array()) return no_request("there are no batches here; send one message at a time");
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

RpcMessage read_rpc(std::string_view body) {
  boost::system::error_code error;
  json::value value = json::parse(body, error);
  if (error) return RpcFault{nullptr, {rpc::kNotJson, "the body must be JSON: " + error.message()}};
  return message_of(value);
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
