// Checks a JSON value against a schema of an OpenAPI 3.1 document, for the keywords that the
// document uses. A property that no schema declares is a complaint, and so is an unknown keyword.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/time.h"

namespace faultline {

class SchemaCheck {
 public:
  explicit SchemaCheck(const boost::json::value& document) : document_(document) {}

  // One line for each complaint, such as "/root_causes/0/severity: \"bad\" is none of [...]"; none
  // if the value fits.
  std::vector<std::string> complaints(const boost::json::value& schema,
                                      const boost::json::value& value) const {
    std::vector<std::string> all;
    check(schema, value, "", all);
    return all;
  }

  // Whether any value so far has matched this schema.
  bool has_met(const boost::json::value& schema) const {
    return met_.contains(&schema.as_object());
  }

 private:
  using Value = boost::json::value;
  using Object = boost::json::object;
  using Complaints = std::vector<std::string>;

  // The schema with all schemas that it refers to or is composed of. Any of them may declare a
  // property, so none alone can reject one.
  std::vector<const Object*> parts_of(const Value& schema) const {
    const Object& object = schema.as_object();
    std::vector<const Object*> parts{&object};
    const auto add = [&](const Value& other) {
      for (const Object* part : parts_of(other)) parts.push_back(part);
    };
    if (const Value* reference = object.if_contains("$ref"))
      add(document_.at_pointer(std::string_view(reference->as_string()).substr(1)));
    if (const Value* all = object.if_contains("allOf"))
      for (const Value& one : all->as_array()) add(one);
    return parts;
  }

  static bool is_of(std::string_view type, const Value& value) {
    if (type == "null") return value.is_null();
    if (type == "boolean") return value.is_bool();
    if (type == "string") return value.is_string();
    if (type == "array") return value.is_array();
    if (type == "object") return value.is_object();
    if (type == "integer") return value.is_int64() || value.is_uint64();
    if (type == "number") return value.is_number();
    ADD_FAILURE() << "the schema names a type " << type;
    return false;
  }

  static bool is_of_one(const Value& types, const Value& value) {
    if (types.is_string()) return is_of(types.as_string(), value);
    return std::ranges::any_of(types.as_array(),
                               [&](const Value& type) { return is_of(type.as_string(), value); });
  }

  void check(const Value& schema, const Value& value, const std::string& where,
             Complaints& all) const {
    const auto complain = [&](const std::string& what) {
      all.push_back(fmt::format("{}: {}", where, what));
    };
    const std::vector<const Object*> parts = parts_of(schema);
    const std::size_t before = all.size();
    for (const Object* part : parts)
      for (const auto& [word, says] : *part) {
        if (word == "type") {
          if (!is_of_one(says, value))
            complain(fmt::format("{} is not of type {}", text(value), text(says)));
        } else if (word == "enum") {
          if (std::ranges::find(says.as_array(), value) == says.as_array().end())
            complain(fmt::format("{} is none of {}", text(value), text(says)));
        } else if (word == "minimum" || word == "maximum") {
          const double limit = says.to_number<double>();
          const double number = value.is_number() ? value.to_number<double>() : limit;
          if (word == "minimum" ? number < limit : number > limit)
            complain(fmt::format("{} is beyond the {} {}", text(value), std::string(word), limit));
        } else if (word == "format") {
          EXPECT_EQ(says, "date-time");
          if (value.is_string() && !parse_rfc3339(value.as_string()))
            complain(fmt::format("{} is no time", text(value)));
        } else if (word == "pattern") {
          if (value.is_string() &&
              !RE2::PartialMatch(value.as_string().c_str(), says.as_string().c_str()))
            complain(fmt::format("{} is not like {}", text(value), text(says)));
        } else if (word == "required") {
          for (const Value& name : says.as_array())
            if (value.is_object() && !value.as_object().contains(name.as_string()))
              complain(fmt::format("{} is missing", text(name)));
        } else if (word == "items") {
          if (value.is_array())
            for (std::size_t i = 0; i < value.as_array().size(); ++i)
              check(says, value.as_array()[i], fmt::format("{}/{}", where, i), all);
        } else if (word == "anyOf") {
          if (std::ranges::none_of(says.as_array(), [&](const Value& one) {
                Complaints its;
                check(one, value, where, its);
                return its.empty();
              }))
            complain(fmt::format("{} fits none of {}", text(value), text(says)));
        } else if (word != "properties" && word != "additionalProperties" && word != "$ref" &&
                   word != "allOf" && word != "description" && word != "$defs") {
          complain(fmt::format("the schema says {}, which is not known here", std::string(word)));
        }
      }
    if (value.is_object()) check_properties(parts, value.as_object(), where, all);
    if (all.size() == before) met_.insert(parts.begin(), parts.end());
  }

  void check_properties(const std::vector<const Object*>& parts, const Object& value,
                        const std::string& where, Complaints& all) const {
    for (const auto& [name, property] : value) {
      const std::string place = fmt::format("{}/{}", where, std::string(name));
      bool is_declared = false;
      for (const Object* part : parts) {
        const Value* properties = part->if_contains("properties");
        const Value* others = part->if_contains("additionalProperties");
        const Value* declared =
            properties == nullptr ? nullptr : properties->as_object().if_contains(name);
        if (declared == nullptr) declared = others;
        if (declared == nullptr) continue;
        is_declared = true;
        if (declared->is_object()) check(*declared, property, place, all);
      }
      // An anyOf has checked it already.
      const bool is_judged =
          std::ranges::any_of(parts, [](const Object* part) { return part->contains("anyOf"); });
      if (!is_declared && !is_judged) all.push_back(place + ": is not declared");
    }
  }

  static std::string text(const Value& value) {
    return boost::json::serialize(value).substr(0, 200);
  }

  const boost::json::value& document_;
  mutable std::set<const Object*> met_;
};

}  // namespace faultline
