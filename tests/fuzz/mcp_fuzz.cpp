// Any body as a message to /mcp: whatever is asked for, it becomes a question that a reader may ask
// about the names that were given, and what is answered can be read.
#include <boost/json.hpp>

#include "http/mcp/protocol.h"
#include "http/mcp/tools.h"
#include "http/router.h"
#include "oracle.h"

namespace {

using namespace faultline;
namespace json = boost::json;

void check_target(const std::string& target) {
  Request request;
  request.method = "GET";
  request.target = target;
  request.path = target.substr(0, target.find('?'));
  const auto found = find_route(request);
  const Route* const* route = std::get_if<const Route*>(&found);
  require(route != nullptr, "a question has a path and parameters that the API knows");
  require((*route)->needs.any_of({Scope::read}), "a question is one that a reader may ask");
  require(std::holds_alternative<Answer>((*route)->handler), "a question has an answer that ends");
}

// The name is found again behind the path, whatever it contains.
void check_job(const RpcRequest& asked, const std::string& target) {
  const json::value* arguments = asked.params.if_contains("arguments");
  const json::value* job = arguments != nullptr && arguments->is_object()
                               ? arguments->as_object().if_contains("job")
                               : nullptr;
  if (asked.method != "tools/call" || job == nullptr || !job->is_string()) return;
  Request request;
  request.method = "GET";
  request.target = target;
  request.path = target.substr(0, target.find('?'));
  (void)find_route(request);
  std::string named = request.query.text("job").value_or("");
  for (const auto& [name, value] : request.path_values)
    if (name == "job") named = value;
  require(named == std::string_view(job->as_string()),
          "a question is about the job that was named");
}

void check_answer(const json::object& answer, const json::value& id) {
  const json::value again = json::parse(json::serialize(answer));
  require(again == answer, "an answer can be read");
  require(again.at("id") == id, "an answer has the id of its request");
}

void check(const RpcRequest& asked) {
  const auto step = begin_mcp(asked, "1.2.3");
  if (const auto* questions = std::get_if<McpQuestions>(&step)) {
    require(!questions->targets.empty(), "a question asks something");
    for (const std::string& target : questions->targets) {
      check_target(target);
      check_job(asked, target);
    }
    return;
  }
  const McpOutcome& outcome = std::get<McpOutcome>(step);
  if (const json::object* result = std::get_if<json::object>(&outcome))
    check_answer(rpc_result(asked.id, *result), asked.id);
  else
    check_answer(rpc_error({asked.id, std::get<RpcError>(outcome)}), asked.id);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  const RpcMessage message = read_rpc(text);
  if (const auto* request = std::get_if<RpcRequest>(&message)) check(*request);
  if (const auto* fault = std::get_if<RpcFault>(&message))
    check_answer(rpc_error(*fault), fault->id);
  // The text as the value of each argument that is a text.
  for (const McpTool& tool : mcp_tools())
    for (const auto& property : tool.input.at("properties").as_object()) {
      json::object arguments{{"job", "llama"}, {"source", "s"}, {"line", 1}, {"finding", "f"}};
      for (const char* name : {"job", "source", "line", "finding"})
        if (!tool.input.at("properties").as_object().contains(name)) arguments.erase(name);
      arguments[property.key()] = json::string(text);
      check({1, "tools/call", {{"name", tool.name}, {"arguments", arguments}}});
    }
  return 0;
}
