#include "http/mcp/output_schema.h"

#include <boost/json.hpp>

#include <string>

#include "http/openapi.h"

namespace faultline {
namespace json = boost::json;
namespace {

constexpr std::string_view kInDocument = "#/components/schemas/";
constexpr std::string_view kInPiece = "#/$defs/";

// Lets the references inside lead to definitions, and adds those.
void localize(json::value& schema, json::object& definitions) {
  if (json::array* list = schema.if_array())
    for (json::value& one : *list) localize(one, definitions);
  json::object* object = schema.if_object();
  if (object == nullptr) return;
  for (auto& [word, says] : *object) {
    if (word != "$ref") {
      localize(says, definitions);
      continue;
    }
    const std::string name(std::string_view(says.as_string()).substr(kInDocument.size()));
    says = std::string(kInPiece) + name;
    if (definitions.contains(name)) continue;
    definitions[name] = nullptr;  // begun: a schema may refer to itself
    json::value definition = openapi_schemas().at(name);
    localize(definition, definitions);
    definitions[name] = std::move(definition);
  }
}

}  // namespace

json::object output_schema(std::string_view name) {
  json::value schema = openapi_schemas().at(name);
  json::object definitions;
  localize(schema, definitions);
  json::object& piece = schema.as_object();
  piece["type"] = "object";  // MCP wants it said here, also if parts say it
  if (!definitions.empty()) piece["$defs"] = std::move(definitions);
  return piece;
}

}  // namespace faultline
