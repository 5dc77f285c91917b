#include "http/openapi.h"

#include <fmt/format.h>
#include <boost/json.hpp>

#include <algorithm>
#include <string>

namespace faultline {
namespace json = boost::json;
namespace {

json::object parameter_of(std::string_view name, std::string_view place, std::string_view type,
                          std::string_view description) {
  return {{"name", name},
          {"in", place},
          {"required", place == "path"},
          {"description", description},
          {"schema", json::object{{"type", type}}}};
}

json::array path_parameters(std::string_view pattern) {
  json::array parameters;
  for (std::size_t open = pattern.find('{'); open != std::string_view::npos;
       open = pattern.find('{', open + 1)) {
    const std::string_view name = pattern.substr(open + 1, pattern.find('}', open) - open - 1);
    parameters.push_back(parameter_of(name, "path", "string", fmt::format("The {}'s name.", name)));
  }
  return parameters;
}

json::string operation_id(const Route& route) {
  std::string id(route.method);
  std::transform(id.begin(), id.end(), id.begin(),
                 [](char c) { return static_cast<char>(c | 0x20); });
  for (const char c : route.pattern) id += c == '/' || c == '{' || c == '}' || c == '.' ? '_' : c;
  return json::string(id);
}

// What is said of a body that was sent.
json::object receipt_schema() {
  const auto counter = [](std::string_view means) {
    return json::object{{"type", "integer"}, {"description", means}};
  };
  const auto texts = [](std::string_view means) {
    return json::object{
        {"type", "array"}, {"items", json::object{{"type", "string"}}}, {"description", means}};
  };
  const json::object properties{
      {"job", json::object{{"type", "string"}}},
      {"source", json::object{{"type", "string"}}},
      {"bytes", counter("Received, unpacked.")},
      {"lines", counter("Read, whole ones.")},
      {"recognized", counter("Of them, those of a known form; never more than lines.")},
      {"skipped_lines", counter("Longer than 1 MiB, or binary.")},
      {"events", counter("What the lines told.")},
      {"duplicate_bytes", counter("Held already.")},
      {"next_offset", counter("Where the source goes on; absent for several files.")},
      {"dialects", json::object{{"type", "object"}}},
      {"refused", texts("Why dumps in it were not read.")},
      {"hints", texts("What is wrong with a body that could not be read, and what to do.")},
      {"findings_opened", counter("By what was sent.")},
      {"files", json::object{{"type", "array"},
                             {"items", json::object{{"type", "object"}}},
                             {"description", "A receipt of each, if there are several."}}}};
  return {{"type", "object"}, {"properties", properties}};
}

json::object operation_of(const Route& route) {
  json::array parameters = path_parameters(route.pattern);
  for (const Parameter& parameter : route.query)
    parameters.push_back(
        parameter_of(parameter.name, "query", parameter.type, parameter.description));
  const json::object problem{
      {"description", "What is wrong and what to do about it (RFC 9457)."},
      {"content", json::object{{"application/problem+json",
                                json::object{{"schema", json::object{{"type", "object"}}}}}}}};
  json::object operation{
      {"operationId", operation_id(route)},
      {"summary", route.summary},
      {"parameters", parameters},
      {"responses",
       json::object{{"200", json::object{{"description", "As asked."}}}, {"default", problem}}}};
  if (route.needs.empty()) {
    operation["security"] = json::array{};
  } else {
    operation["description"] = fmt::format(
        "Where tokens are asked for, it needs one for {}, or for admin.", route.needs.text());
  }
  if (route.takes_body) {
    json::object properties;
    for (const Parameter& parameter : route.query)
      properties[parameter.name] =
          json::object{{"type", parameter.type}, {"description", parameter.description}};
    const json::object schema{{"type", "object"}, {"properties", std::move(properties)}};
    operation["requestBody"] = json::object{
        {"required", false},
        {"content", json::object{{"application/json", json::object{{"schema", schema}}}}}};
  }
  if (std::holds_alternative<Stream>(route.handler) && route.method != "GET") {
    operation["requestBody"] =
        json::object{{"required", true},
                     {"content", json::object{{"application/octet-stream", json::object{}},
                                              {"multipart/form-data", json::object{}}}}};
    const json::object receipt{{"schema", receipt_schema()}};
    operation["responses"].as_object()["200"] =
        json::object{{"description", "Its receipt: all of it is on the disk."},
                     {"content", json::object{{"application/json", receipt}}}};
  }
  return operation;
}

}  // namespace

json::value openapi_of(std::span<const Route> routes, std::string_view version) {
  const auto scheme = [](std::string_view name) {
    return json::object{{"type", "http"}, {"scheme", name}};
  };
  json::object paths;
  for (const Route& route : routes) {
    std::string method(route.method);
    std::transform(method.begin(), method.end(), method.begin(),
                   [](char c) { return static_cast<char>(c | 0x20); });
    json::value& path = paths[route.pattern];
    if (!path.is_object()) path.emplace_object();
    path.as_object()[method] = operation_of(route);
  }
  return json::object{
      {"openapi", "3.1.0"},
      {"info", json::object{{"title", "Faultline"}, {"version", version}}},
      {"security",
       json::array{json::object{{"bearer", json::array{}}}, json::object{{"basic", json::array{}}},
                   json::object{{"certificate", json::array{}}}, json::object{}}},
      {"components",
       json::object{{"securitySchemes",
                     json::object{{"bearer", scheme("bearer")},
                                  {"basic", scheme("basic")},
                                  {"certificate", json::object{{"type", "mutualTLS"}}}}}}},
      {"paths", std::move(paths)}};
}

Response show_openapi(const Request&, Services& services) {
  return Response::json(openapi_of(routes(), services.version));
}

}  // namespace faultline
