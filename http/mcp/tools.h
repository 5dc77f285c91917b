// The tools that MCP clients may call: rows of tools.json, each a question to the API.
#pragma once

#include <boost/json/object.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"
#include "model/result.h"

namespace faultline {

struct McpTool {
  std::string name;
  boost::json::object input;       // the schema of its arguments
  boost::json::object definition;  // as tools/list gives it
  std::string path;                // of the API, with {arguments}
  std::string form;                // the ?format= of its text; empty: the text is the JSON
  bool is_structured = false;      // it gives JSON besides the text
  std::string more;                // how to get what a long text leaves out
  std::string not_found;           // where to find names that exist
};

// In the order in which they are listed.
std::span<const McpTool> mcp_tools();
const McpTool* mcp_tool(std::string_view name);  // null: there is none

// What has to be asked of the API: first for the JSON, last for the text. An error names the
// argument that is wrong.
Result<std::vector<std::string>> targets_of(const McpTool& tool,
                                            const boost::json::object& arguments);

// The result of tools/call. `answers`: to the targets, up to the first that was refused.
boost::json::object tool_result(const McpTool& tool, const std::vector<Response>& answers);

// The text, cut if it is too long for one answer; then its end says so, and `more`: how to get the
// rest.
std::string text_in_short(const std::string& text, std::string_view more);

// A result that says what is wrong and what to do.
boost::json::object tool_failure(std::string_view why);

}  // namespace faultline
