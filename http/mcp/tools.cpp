#include "http/mcp/tools.h"

#include <fmt/format.h>
#include <boost/json.hpp>

#include <algorithm>
#include <utility>

#include "http/mcp/arguments.h"
#include "http/mcp/mcp_files.h"
#include "http/mcp/output_schema.h"
#include "http/query.h"
#include "model/handover.h"

namespace faultline {
namespace json = boost::json;
namespace {

// A reader with a limited memory gets no more text from one call.
constexpr std::size_t kMostText = 48'000;
// JSON cannot be cut. An answer is held in memory until the client has taken it.
constexpr std::size_t kMostJson = 1'000'000;

std::string text_at(const json::object& row, std::string_view name) {
  const json::value* text = row.if_contains(name);
  return text == nullptr ? std::string() : std::string(text->as_string());
}

McpTool tool_of(const json::object& row) {
  McpTool tool{.name = text_at(row, "name"),
               .input = row.at("inputSchema").as_object(),
               .definition = {},
               .path = text_at(row, "path"),
               .form = text_at(row, "form"),
               .is_structured = row.contains("output"),
               .more = text_at(row, "more"),
               .not_found = text_at(row, "not_found")};
  for (const char* member : {"name", "title", "description", "inputSchema"})
    tool.definition[member] = row.at(member);
  if (tool.is_structured) tool.definition["outputSchema"] = output_schema(text_at(row, "output"));
  tool.definition["annotations"] = json::object{{"title", row.at("title")},
                                                {"readOnlyHint", true},
                                                {"idempotentHint", true},
                                                {"openWorldHint", false}};
  return tool;
}

std::string with_parameter(std::string target, std::string_view name, std::string_view value) {
  return fmt::format("{}{}{}={}", target, target.find('?') == std::string::npos ? '?' : '&', name,
                     percent_encoded(value));
}

json::array content_of_text(std::string_view text) {
  return {json::object{{"type", "text"}, {"text", text}}};
}

}  // namespace

std::span<const McpTool> mcp_tools() {
  static const std::vector<McpTool> all = [] {
    std::vector<McpTool> tools;
    for (const McpFile& file : mcp_files()) {
      const json::value rows = json::parse(file.text);
      for (const json::value& row : rows.as_array()) tools.push_back(tool_of(row.as_object()));
    }
    return tools;
  }();
  return all;
}

const McpTool* mcp_tool(std::string_view name) {
  const auto all = mcp_tools();
  const auto found = std::ranges::find(all, name, &McpTool::name);
  return found == all.end() ? nullptr : &*found;
}

Result<std::vector<std::string>> targets_of(const McpTool& tool, const json::object& given) {
  const Result<ToolArguments> arguments = checked_arguments(tool.input, given);
  if (!arguments) return arguments.error();
  std::string target = tool.path;
  std::string form = tool.form;
  for (const auto& [name, value] : *arguments) {
    const std::string place = "{" + name + "}";
    if (const std::size_t at = target.find(place); at != std::string::npos) {
      if (const auto good = check_name(name, value); !good) return good.error();
      target.replace(at, place.size(), percent_encoded(value));
    } else if (name == "format") {
      form = value;
    } else {
      target = with_parameter(std::move(target), name, value);
    }
  }
  std::vector<std::string> targets;
  const bool is_text = !form.empty() && form != "json";
  if (tool.is_structured || !is_text) targets.push_back(target);
  if (is_text) targets.push_back(with_parameter(target, "format", form));
  return targets;
}

json::object tool_result(const McpTool& tool, const std::vector<Response>& answers) {
  const Response& last = answers.back();
  if (last.status >= 400) {
    std::string why(json::parse(last.body).at("detail").as_string());
    if (last.status == 404 && !tool.not_found.empty()) why += ". " + tool.not_found;
    return tool_failure(why);
  }
  const std::string& whole = answers.front().body;
  if (tool.is_structured && whole.size() > kMostJson)
    return tool_failure(
        fmt::format("the answer has {} bytes of JSON, and one call gives {} at most. {}",
                    whole.size(), kMostJson, tool.more));
  json::object result{{"content", content_of_text(text_in_short(last.body, tool.more))}};
  if (tool.is_structured) result["structuredContent"] = json::parse(whole);
  result["isError"] = false;
  return result;
}

std::string text_in_short(const std::string& text, std::string_view more) {
  if (text.size() <= kMostText) return text;
  return fmt::format("{}\n\n[This is cut after {} of {} bytes. {}]", cut(text, kMostText),
                     kMostText, text.size(), more);
}

json::object tool_failure(std::string_view why) {
  return {{"content", content_of_text(why)}, {"isError", true}};
}

}  // namespace faultline
