#include "http/openapi.h"

#include <fmt/format.h>
#include <boost/json.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "http/openapi_files.h"

namespace faultline {
namespace json = boost::json;
namespace {

// A file of http/openapi/.
const json::object& file_named(std::string_view name) {
  static const auto all = [] {
    std::map<std::string_view, json::object> files;
    for (const OpenApiFile& file : openapi_files())
      files[file.name] = json::parse(file.text).as_object();
    return files;
  }();
  return all.at(name);
}

json::array words_of(std::string_view list) {
  json::array words;
  while (!list.empty()) {
    const std::string_view word = list.substr(0, list.find(','));
    words.emplace_back(word);
    list.remove_prefix(std::min(word.size() + 1, list.size()));
  }
  return words;
}

json::object schema_of(const Parameter& parameter) {
  json::object one{{"type", parameter.type == "array" ? "string" : parameter.type}};
  if (!parameter.words.empty()) one["enum"] = words_of(parameter.words);
  if (parameter.least) one["minimum"] = *parameter.least;
  if (parameter.most) one["maximum"] = *parameter.most;
  if (parameter.type != "array") return one;
  return {{"type", "array"}, {"items", std::move(one)}};
}

json::object parameter_of(const Parameter& parameter, std::string_view place, bool required) {
  json::object object{{"name", parameter.name},
                      {"in", place},
                      {"required", required},
                      {"description", parameter.description},
                      {"schema", schema_of(parameter)}};
  if (parameter.type == "array") {  // verdict=hang,failed
    object["style"] = "form";
    object["explode"] = false;
  }
  return object;
}

json::array path_parameters(std::string_view pattern) {
  json::array parameters;
  for (std::size_t open = pattern.find('{'); open != std::string_view::npos;
       open = pattern.find('{', open + 1)) {
    const std::string_view name = pattern.substr(open + 1, pattern.find('}', open) - open - 1);
    const std::string description = fmt::format("The {}.", name);
    parameters.push_back(parameter_of({name, "string", description}, "path", true));
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

json::object content_of(const json::object& schemas_by_type) {
  json::object content;
  for (const auto& [type, name] : schemas_by_type) {
    json::object& form = content[type].emplace_object();
    form["schema"] =
        name.as_string().empty()
            ? json::object{{"type", "string"}}
            : json::object{{"$ref", fmt::format("#/components/schemas/{}", name.as_string())}};
  }
  return content;
}

std::string_view meaning_of(std::string_view status) {
  if (status == "202") return "Taken.";
  if (status == "204") return "Done.";
  if (status == "304") return "The client has it already (If-None-Match).";
  return "The answer.";
}

struct Refusal {
  std::string_view status;
  std::string_view description;
};

bool takes_logs(const Route& route) {
  return std::holds_alternative<Stream>(route.handler) && route.method != "GET" &&
         route.body_schema.empty();
}

// The refusals that the route may give. "default" stands for all others.
std::vector<Refusal> refusals_of(const Route& route) {
  std::vector<Refusal> refusals;
  refusals.push_back({"400", "A name, a parameter or a value is not allowed."});
  if (!route.needs.empty()) {
    refusals.push_back({"401", "The server asks for tokens, and the request has no known one."});
    refusals.push_back(
        {"403", "The token does not allow this, or a page of another origin sent it."});
    refusals.push_back({"429", "The token made more requests than its rate allows."});
  }
  if (route.takes_body ||
      (route.pattern.starts_with("/api/") && route.pattern.find('{') != std::string_view::npos))
    refusals.push_back({"404", "Nothing has this name."});
  if (takes_logs(route)) {
    refusals.push_back(
        {"409",
         "offset leaves a gap, another sender took over the source, or the job is set aside."});
  }
  if (route.method == "PUT" && route.pattern == "/api/v1/ingest/read") {
    refusals.push_back({"412", "The blocks do not follow what the server holds of the source."});
    refusals.push_back({"415", "The server cannot take what this reader read; send lines."});
  }
  if (takes_logs(route) || !route.body_schema.empty()) {
    refusals.push_back({"413", "The body, or what it unpacks to, is too large."});
  }
  if (route.pattern.ends_with("/reanalyze")) refusals.push_back({"409", "The job is set aside."});
  refusals.push_back({"421", "The Host of the request does not name this server."});
  if (!route.always)
    refusals.push_back({"503", "The server is not ready, has no room, or is too busy."});
  return refusals;
}

bool says_when_to_try_again(std::string_view status) { return status == "429" || status == "503"; }

json::object responses_of(const Route& route) {
  json::object responses;
  const std::string key = fmt::format("{} {}", route.method, route.pattern);
  const json::object& answers = file_named("answers.json").at(key).as_object();
  for (const auto& [status, content] : answers) {
    if (status.starts_with("4") || status.starts_with("5")) continue;
    json::object& response = responses[status].emplace_object();
    response["description"] = meaning_of(status);
    if (!content.as_object().empty()) response["content"] = content_of(content.as_object());
  }
  const json::object problem = content_of({{"application/problem+json", "Problem"}});
  for (const auto& [status, description] : refusals_of(route)) {
    if (responses.contains(status)) continue;
    json::object& response = responses[status].emplace_object();
    // A door refuses in the words of its protocol, but the guards before it do not.
    json::object content = problem;
    if (const json::value* own = answers.if_contains(status))
      for (const auto& [form, says] : content_of(own->as_object())) content[form] = says;
    response = {{"description", description}, {"content", std::move(content)}};
    if (says_when_to_try_again(status))
      response["headers"] = json::object{
          {"Retry-After", json::object{{"description", "Seconds to wait."},
                                       {"schema", json::object{{"type", "integer"}}}}}};
  }
  responses["default"] = json::object{{"description", "Anything else."}, {"content", problem}};
  return responses;
}

bool is_required(const Parameter& parameter, bool has_default_job) {
  return parameter.needed == Needed::always ||
         (parameter.needed == Needed::without_default_job && !has_default_job);
}

json::object operation_of(const Route& route, bool has_default_job) {
  json::array parameters = path_parameters(route.pattern);
  for (const Parameter& parameter : route.query)
    parameters.push_back(parameter_of(parameter, "query", is_required(parameter, has_default_job)));
  json::object operation{{"operationId", operation_id(route)},
                         {"summary", route.summary},
                         {"parameters", parameters},
                         {"responses", responses_of(route)}};
  if (route.needs.empty()) {
    operation["security"] = json::array{};
  } else {
    operation["description"] = fmt::format(
        "If the server asks for tokens, this needs one for {}, or for admin.", route.needs.text());
  }
  if (route.takes_body) {
    json::object properties;
    for (const Parameter& parameter : route.query) {
      json::object schema = schema_of(parameter);
      schema["description"] = parameter.description;
      properties[parameter.name] = std::move(schema);
    }
    const json::object schema{{"type", "object"}, {"properties", std::move(properties)}};
    operation["requestBody"] = json::object{
        {"required", false},
        {"content", json::object{{"application/json", json::object{{"schema", schema}}}}}};
  }
  if (!route.body_schema.empty()) {
    operation["requestBody"] = json::object{
        {"required", true}, {"content", content_of({{"application/json", route.body_schema}})}};
  }
  if (takes_logs(route)) {
    operation["requestBody"] =
        json::object{{"required", true},
                     {"content", json::object{{"application/octet-stream", json::object{}},
                                              {"multipart/form-data", json::object{}}}}};
  }
  return operation;
}

}  // namespace

const json::object& openapi_schemas() { return file_named("schemas.json"); }

json::value openapi_of(std::span<const Route> routes, std::string_view version,
                       bool has_default_job) {
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
    path.as_object()[method] = operation_of(route, has_default_job);
  }
  return json::object{
      {"openapi", "3.1.0"},
      {"info", json::object{{"title", "Faultline"}, {"version", version}}},
      {"security",
       json::array{json::object{{"bearer", json::array{}}}, json::object{{"basic", json::array{}}},
                   json::object{{"certificate", json::array{}}}, json::object{}}},
      {"components",
       json::object{{"schemas", openapi_schemas()},
                    {"securitySchemes",
                     json::object{{"bearer", scheme("bearer")},
                                  {"basic", scheme("basic")},
                                  {"certificate", json::object{{"type", "mutualTLS"}}}}}}},
      {"paths", std::move(paths)}};
}

Response show_openapi(const Request&, Services& services) {
  return Response::json(openapi_of(routes(), services.version, !services.default_job.empty()));
}

}  // namespace faultline
