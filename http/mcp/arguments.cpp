#include "http/mcp/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/json.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "http/query.h"

namespace faultline {
namespace json = boost::json;
namespace {

Error bad_argument(std::string why) { return {Error::Kind::invalid_input, std::move(why)}; }

std::int64_t limit_in(const json::object& schema, std::string_view word, std::int64_t otherwise) {
  const json::value* limit = schema.if_contains(word);
  return limit == nullptr ? otherwise : limit->as_int64();
}

Result<std::string> text_of_one(std::string_view name, const json::object& schema,
                                const json::value& value) {
  const std::string_view type = schema.at("type").as_string();
  if (type == "boolean" && value.is_bool()) return std::string(value.as_bool() ? "true" : "false");
  if (type == "integer" && (value.is_int64() || value.is_uint64())) {
    // No schema has a limit that only a uint64 holds.
    const std::int64_t number = value.is_int64() ? value.as_int64() : INT64_MAX;
    const std::int64_t least = limit_in(schema, "minimum", INT64_MIN);
    const std::int64_t most = limit_in(schema, "maximum", INT64_MAX - 1);
    if (number < least || number > most)
      return bad_argument(fmt::format("{} must be a whole number from {} to {}, not {}", name,
                                      least, most, json::serialize(value)));
    return json::serialize(value);
  }
  if (type == "string" && value.is_string()) {
    const std::string_view text = value.as_string();
    const json::value* words = schema.if_contains("enum");
    if (words == nullptr || std::ranges::find(words->as_array(), value) != words->as_array().end())
      return std::string(text);
    std::vector<std::string_view> known;
    for (const json::value& word : words->as_array()) known.push_back(word.as_string());
    return bad_argument(fmt::format("{} must be one of {}, not \"{}\"", name,
                                    fmt::join(known, ", "), printable_name(text)));
  }
  return bad_argument(fmt::format("{} must be of type {}", name, type));
}

// A list is written with commas, as in verdict=hang,failed.
Result<std::string> text_of(std::string_view name, const json::object& schema,
                            const json::value& value) {
  if (schema.at("type") != "array") return text_of_one(name, schema, value);
  if (!value.is_array()) return bad_argument(fmt::format("{} must be of type array", name));
  std::string list;
  for (const json::value& item : value.as_array()) {
    const Result<std::string> text = text_of_one(name, schema.at("items").as_object(), item);
    if (!text) return text.error();
    list += (list.empty() ? "" : ",") + *text;
  }
  return list;
}

const json::value* value_for(std::string_view name, const json::object& schema,
                             const json::object& given) {
  const json::value* value = given.if_contains(name);
  if (value != nullptr && !value->is_null()) return value;
  return schema.if_contains("default");
}

bool must_be_given(const json::object& schema, std::string_view name) {
  const json::value* required = schema.if_contains("required");
  return required != nullptr &&
         std::ranges::any_of(required->as_array(),
                             [&](const json::value& one) { return one.as_string() == name; });
}

}  // namespace

Result<ToolArguments> checked_arguments(const json::object& schema, const json::object& given) {
  const json::object& properties = schema.at("properties").as_object();
  for (const auto& argument : given) {
    if (properties.contains(argument.key())) continue;
    std::vector<std::string_view> known;
    for (const auto& property : properties) known.push_back(property.key());
    return bad_argument(fmt::format("unknown argument \"{}\"; those taken here are {}",
                                    printable_name(argument.key()), fmt::join(known, ", ")));
  }
  ToolArguments arguments;
  for (const auto& property : properties) {
    const std::string name(property.key());
    const json::object& its_schema = property.value().as_object();
    const json::value* value = value_for(name, its_schema, given);
    if (value == nullptr) {
      if (must_be_given(schema, name))
        return bad_argument(fmt::format("the argument {} is missing", name));
      continue;
    }
    Result<std::string> text = text_of(name, its_schema, *value);
    if (!text) return text.error();
    arguments.emplace_back(name, std::move(*text));
  }
  return arguments;
}

}  // namespace faultline
