// A schema of the API's answers as MCP wants it: in one piece, with all schemas that it refers to.
#pragma once

#include <boost/json/object.hpp>

#include <string_view>

namespace faultline {

// `name`: a schema in http/openapi/schemas.json.
boost::json::object output_schema(std::string_view name);

}  // namespace faultline
