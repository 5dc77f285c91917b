// The resources that MCP clients may read: the diagnosis of each job.
#pragma once

#include <boost/json/object.hpp>

#include <optional>
#include <string>
#include <string_view>

#include "http/mcp/protocol.h"

namespace faultline {

// What to ask the API for a page of resources, for the one with this URI (nothing: no resource has
// such a URI), and what to make of the answers.
std::string resources_target(std::string_view cursor);
McpOutcome resource_list(const Response& answer);

std::optional<std::string> resource_target(std::string_view uri);
McpOutcome resource_contents(std::string_view uri, const Response& answer);

boost::json::object resource_templates();

}  // namespace faultline
