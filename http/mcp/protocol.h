// The Model Context Protocol: what each method answers. It knows no HTTP and no job: what a method
// wants to know, it asks the API, and somebody else carries the question there.
#pragma once

#include <boost/json/object.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "http/mcp/json_rpc.h"
#include "http/message.h"

namespace faultline {

bool is_mcp_version(std::string_view version);
std::string mcp_versions();  // "2025-11-25, …"

// What a method gives in the end.
using McpOutcome = std::variant<boost::json::object, RpcError>;

// Questions to the API, as targets of GET, to be asked one after the other until one is refused;
// `tell` makes the outcome of the answers.
struct McpQuestions {
  std::vector<std::string> targets;
  std::function<McpOutcome(const std::vector<Response>& answers)> tell;
};

// `server_version`: of this program.
std::variant<McpOutcome, McpQuestions> begin_mcp(const RpcRequest& request,
                                                 std::string_view server_version);

}  // namespace faultline
