#include "doors/json_labels.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

namespace faultline {
namespace {

constexpr std::size_t kLongestPath = 256;
constexpr std::size_t kLongestText = 1024;
constexpr std::size_t kDeepest = 8;

void give_members(simdjson::dom::object object, std::string& path, std::size_t depth,
                  const GiveLabel& give) {
  const std::size_t length = path.size();
  std::string room;
  for (const auto& [key, value] : object) {
    path.resize(length);
    if (length + key.size() >= kLongestPath) continue;
    if (length > 0) path += '.';
    path += key;
    simdjson::dom::object inner;
    if (!value.get_object().get(inner)) {
      if (depth < kDeepest) give_members(inner, path, depth + 1, give);
      continue;
    }
    const std::string_view text = text_of(value, room);
    if (!text.empty() && text.size() <= kLongestText) give(path, text);
  }
  path.resize(length);
}

}  // namespace

void give_labels(simdjson::dom::object object, std::string& path, const GiveLabel& give) {
  give_members(object, path, 1, give);
}

std::string_view text_of(simdjson::dom::element value, std::string& room) {
  switch (value.type()) {
    case simdjson::dom::element_type::STRING:
      return value.get_string().value_unsafe();
    case simdjson::dom::element_type::INT64:
      room = fmt::format("{}", value.get_int64().value_unsafe());
      return room;
    case simdjson::dom::element_type::UINT64:
      room = fmt::format("{}", value.get_uint64().value_unsafe());
      return room;
    case simdjson::dom::element_type::DOUBLE:
      room = fmt::format("{}", value.get_double().value_unsafe());
      return room;
    case simdjson::dom::element_type::BOOL:
      return value.get_bool().value_unsafe() ? "true" : "false";
    default:
      return {};
  }
}

}  // namespace faultline
