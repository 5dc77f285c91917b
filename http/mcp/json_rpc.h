// JSON-RPC 2.0 as the Model Context Protocol uses it: values only, nothing of HTTP.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <string>
#include <string_view>
#include <variant>

namespace faultline {

namespace rpc {
inline constexpr int kNotJson = -32700;
inline constexpr int kNoRequest = -32600;
inline constexpr int kNoSuchMethod = -32601;
inline constexpr int kBadParams = -32602;
inline constexpr int kFailed = -32603;
inline constexpr int kNoSuchResource = -32002;
}  // namespace rpc

struct RpcError {
  int code = 0;
  std::string message;
};

struct RpcRequest {
  boost::json::value id;
  std::string method;
  boost::json::object params;
};

// A notification, or the answer to a request that we never sent: nothing is answered.
struct RpcNotice {};

// A message that is no good. The id is null if it has none that could be answered to: then it is no
// message at all.
struct RpcFault {
  boost::json::value id;
  RpcError error;
};

using RpcMessage = std::variant<RpcRequest, RpcNotice, RpcFault>;

// Of two members with the same name the last one counts.
RpcMessage read_rpc(std::string_view body);

boost::json::object rpc_result(const boost::json::value& id, boost::json::object result);
boost::json::object rpc_error(const RpcFault& fault);

}  // namespace faultline
